// The page: what is at its top, the details of what is picked, and what ties the parts together.

const element = (id) => document.getElementById(id);

function make(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function head() {
  const name = run.file.split(/[\\/]/).pop();
  element("title").textContent = name;
  document.title = name + ": a recorded run";
  const number = (count, word) => count + " " + word + (count === 1 ? "" : "s");
  element("summary").textContent = "Kubernetes " + run.kubernetes + ", " + number(run.requests.length, "request") + ", " + number(run.changes.length, "change") +
    " of objects in " + seconds(run.end) + ", from " + run.started + " on, by " + number(run.replicas, "replica") + ".";
  element("cut").hidden = !run.cut;
  element("cut").textContent = "The recording is cut short: " + run.cut + ".";
  for (const finding of run.findings) {
    const card = make("div", undefined, "finding");
    card.append(make("b", finding.id), make("span", finding.message + " "));
    for (const cursor of finding.requests) {
      const link = make("button", String(cursor));
      link.addEventListener("click", () => pick(byKey.get(keyOf(null, cursor)), true));
      card.append(link);
    }
    if (finding.count > finding.requests.length) card.append(make("span", " and " + (finding.count - finding.requests.length) + " more"));
    element("findings").append(card);
  }
  element("findings").hidden = run.findings.length === 0;
}

function pretty(value) {
  if (typeof value !== "string") return JSON.stringify(value, null, 2);
  try { return JSON.stringify(JSON.parse(value), null, 2); } catch { return value; }
}

// The command that serves a cluster as it was at some moment.
function replay(cluster, at) {
  return "fake-apiserver replay " + run.file + (cluster ? " --cluster " + cluster : "") + " --at " + at;
}

// The facts about a request, as the recording has them.
function facts(item) {
  const request = item.request, facts = [["answer", request.code === 0 ? "none" : request.code], ["verb", item.verb], ["URI", request.method + " " + request.uri]];
  facts.push(["user", request.user || "nobody"], ["as", request.impersonated], ["client", request.userAgent], ["replica", request.replica], ["cluster", request.cluster]);
  facts.push(["began", seconds(item.from) + ", at " + request.received], ["took", item.watch ? undefined : lasting(request.tookMicros || 0)]);
  facts.push(["wrote", request.revision && "revision " + request.revision], ["newest then", "revision " + request.seen], ["401 because", request.authenticationError]);
  if (item.watch) facts.push(["events", item.events ?? "not known: it had not ended"], ["ended", item.ended ? seconds(item.to) : "not in this recording"]);
  if (request.fault) facts.push(["fault", request.fault.id + " " + (request.fault.name || "") + ": " + request.fault.actions.join(", ") + (request.fault.committed ? ", after the commit" : "")]);
  return facts.filter(([, value]) => value !== undefined && value !== null && value !== "");
}

function details(item) {
  const box = element("detail");
  box.hidden = !item;
  if (!item) return;
  const close = make("button", "×", "close");
  close.setAttribute("aria-label", "Close");
  close.addEventListener("click", () => pick(null));
  box.replaceChildren(close);
  if (item.request) {
    box.append(make("h2", item.request.cursor + " " + item.verb + " " + item.what));
    const list = make("dl");
    for (const [name, value] of facts(item)) list.append(make("dt", name), make("dd", String(value)));
    box.append(list);
    if (item.request.body !== undefined) box.append(make("p", "The body:"), make("pre", pretty(item.request.body)));
    box.append(make("p", "The cluster as it was then:"), make("pre", replay(item.request.cluster, item.request.cursor)));
    box.append(make("p", "As recorded:"), make("pre", pretty({ ...item.request, body: undefined })));
  } else if (item.change) {
    box.append(make("h2", item.verb + " " + item.what), make("p", "revision " + item.change.revision + ", written to the recording at " + seconds(item.at)));
    if (item.change.object) box.append(make("pre", pretty(item.change.object)));
    box.append(make("p", "The cluster as it was then:"), make("pre", replay(item.change.cluster, "revision=" + item.change.revision)));
  } else {
    box.append(make("h2", item.what), make("p", "at " + seconds(item.at)));
    if (item.mark.words) box.append(make("pre", pretty(item.mark.words)));
  }
}

let timeline, list;

function pick(item, moves = false) {
  timeline.select(item || null, moves);
  list.select(item || null, moves);
  details(item);
  const hash = item && item.request ? "#" + (item.request.cluster ? item.request.cluster + "/" : "") + item.request.cursor : " ";
  history.replaceState(null, "", hash === " " ? location.pathname + location.search : hash);
}

function byHash() {
  const [, cluster, cursor] = /^#(?:([^/]+)\/)?(\d+)$/.exec(location.hash) || [];
  const item = cursor && byKey.get(keyOf(cluster, cursor));
  if (item) pick(item, true);
}

head();
timeline = new Timeline(document.querySelector("#lanes canvas"), element("tip"), (item) => { pick(item); list.select(item, true); });
list = new List(element("list"), element("spacer"), element("filters"), element("count"), (item) => { pick(item); timeline.select(item, true); });
element("in").addEventListener("click", () => timeline.zoom(0.6));
element("out").addEventListener("click", () => timeline.zoom(1 / 0.6));
element("fit").addEventListener("click", () => timeline.all());
addEventListener("hashchange", byHash);
addEventListener("keydown", (event) => { if (event.key === "Escape") pick(null); });
byHash();
