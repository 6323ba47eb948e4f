// The run: what the page has, in the form in which it is drawn.

const run = JSON.parse(document.getElementById("data").textContent);

// The colour of an outcome, by its name in the style sheet.
function outcome(code) {
  if (code === 0) return "lost";
  if (code === 409) return "conflict";
  if (code >= 500) return "server";
  return code >= 400 ? "client" : "ok";
}

// The name of a client: the program of its User-Agent, and its user.
function clientOf(request) {
  const program = (request.userAgent.split(/[\s/]/)[0] || "?").slice(0, 40);
  const user = request.impersonated || request.user || "nobody";
  const where = request.cluster ? request.cluster + ": " : "";
  return where + program + " · " + user.replace(/^system:serviceaccount:/, "sa:");
}

function pathOf(request) {
  if (!request.resource) return request.uri.split("?")[0];
  const resource = request.subresource ? request.resource + "/" + request.subresource : request.resource;
  const object = request.namespace && request.name ? request.namespace + "/" + request.name : request.namespace ? request.namespace + "/" : request.name;
  return resource + (object ? " " + object : "");
}

function seconds(micros) {
  return (micros / 1e6).toFixed(micros < 1e7 ? 4 : 3) + " s";
}

function lasting(micros) {
  if (micros < 1000) return micros + " µs";
  return micros < 1e6 ? (micros / 1000).toFixed(1) + " ms" : seconds(micros);
}

const keyOf = (cluster, cursor) => (cluster || "") + "#" + cursor;

// Everything that happened, oldest first: requests, marks, changes of objects.
const items = [];
const byKey = new Map();

function gather() {
  for (const request of run.requests) {
    const item = {
      kind: "request", request, at: request.at, from: Math.max(0, request.at - (request.tookMicros || 0)), to: request.at,
      client: clientOf(request), resource: request.resource || "(path)", verb: request.verb, code: request.code, what: pathOf(request),
      watch: request.verb === "watch" && request.code < 300 && request.code > 0,
    };
    // A watch is open to the end of the run, unless something says when it has ended.
    if (item.watch) item.to = run.end;
    items.push(item);
    byKey.set(keyOf(request.cluster, request.cursor), item);
  }
  for (const watch of run.watches) {
    const item = byKey.get(keyOf(watch.cluster, watch.request));
    if (item) Object.assign(item, { to: watch.at, events: watch.events, sent: watch.sent, ended: true });
  }
  for (const mark of run.marks) items.push({ kind: mark.kind, mark, at: mark.at, from: mark.at, to: mark.at, what: (mark.cluster ? mark.cluster + ": " : "") + mark.text, verb: mark.kind, client: "", resource: "", code: "" });
  for (const change of run.changes) {
    items.push({ kind: "change", change, at: change.at, from: change.at, to: change.at, client: "", resource: change.resource.split(".")[0],
      verb: change.type, code: "", what: (change.cluster ? change.cluster + ": " : "") + change.resource.replace(/\.$/, "") + " " + change.path });
  }
  items.sort((a, b) => a.from - b.from || a.at - b.at);
  items.forEach((item, index) => { item.index = index; item.search = (item.what + " " + item.client + " " + item.verb + " " + (item.request ? item.request.uri : "")).toLowerCase(); });
}

gather();

// A lane a client, and two of the server: what tests did to it, and how its objects changed.
const lanes = [];

function arrange() {
  const byName = new Map();
  const lane = (name) => {
    if (!byName.has(name)) { byName.set(name, { name, items: [], watches: [], tracks: [] }); lanes.push(byName.get(name)); }
    return byName.get(name);
  };
  lane("orders, faults, clock").isServer = true;
  lane("changes of objects").isServer = true;
  for (const item of items) {
    const of = item.kind === "request" ? lane(item.client) : item.kind === "change" ? lanes[1] : lanes[0];
    item.lane = of;
    if (!item.watch) { of.items.push(item); continue; }
    // Each open watch has a track of its own, as long as there are not too many.
    let track = of.tracks.findIndex((end) => end <= item.from);
    if (track < 0) track = of.tracks.length < 8 ? of.tracks.length : 7;
    of.tracks[track] = item.to;
    item.track = track;
    of.watches.push(item);
  }
}

arrange();
