// The panel with the raw exchange behind a message.

const panel = document.getElementById("exchange");
/** The message whose exchange is shown. */
let shown = null;

function openExchange(row) {
  shown?.setAttribute("aria-expanded", "false");
  shown = row;
  row.setAttribute("aria-expanded", "true");
  const { timeline, message } = said.get(row);
  const names = timeline.lanes.map((lane) => lane.name);
  document.getElementById("exchange-title").textContent = `${names[message.from]} → ${names[message.to]}: ${message.title}`;
  document.getElementById("exchange-body").replaceChildren(...drawRaw(timeline, message));
  panel.hidden = false;
  document.body.classList.add("reading");
  row.scrollIntoView({ block: "nearest" });
  panel.focus({ preventScroll: true });
}

function closeExchange() {
  const row = shown;
  shown = null;
  panel.hidden = true;
  document.body.classList.remove("reading");
  row?.setAttribute("aria-expanded", "false");
  row?.focus();
}

function drawRaw(timeline, { kind, exchange, raw, from, title }) {
  const { names } = timeline;
  if (kind === "call") {
    return [
      drawPart("Request", `${raw.method} ${raw.target}`, `by ${raw.user}, as the server recorded it`, {}, raw.body, names),
      drawPart("Response", String(raw.status), "", {}, undefined, names),
    ];
  }
  const { request, reply } = timeline.exchanges[exchange];
  const query = request.query?.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join("&");
  const target = query ? `${request.path}${request.path.includes("?") ? "&" : "?"}${query}` : request.path;
  const asked = drawPart("Request", `${request.method} ${target}`, `${request.request}, by ${request.user || "a client"}`, request.headers, request.body, names);
  if (kind === "frame") return [asked, drawPart("Event", title, "", {}, raw, names)];
  if (kind === "end") return [asked, drawPart("End", raw ?? "the server ended the watch", "", {}, undefined, names)];
  return [asked, reply
    ? drawPart("Response", String(reply.status), "", reply.headers, reply.text ?? reply.body, names)
    : drawPart("Response", "none arrived", "", {}, undefined, names)];
}

function drawPart(title, line, remark, headers = {}, body, names) {
  return make("section", { class: "part" },
    make("h3", {}, title, remark && make("span", {}, ` ${remark}`)),
    make("pre", { tabindex: 0, "aria-label": title },
      make("b", {}, line), "\n",
      Object.entries(headers).map(([name, value]) => [make("span", { class: "key" }, name), `: ${value}\n`]).flat(),
      body === undefined || body === null ? "" : ["\n", drawBody(body, names)].flat()));
}

function drawBody(body, names) {
  return typeof body === "string" ? [body] : drawJson("", body, names, "");
}

/** JSON, indented; a value that differs from run to run is followed by its name. */
function drawJson(field, value, names, indent) {
  const deeper = `${indent}  `;
  const list = (open, close, items) =>
    items.length === 0 ? [open + close] : [`${open}\n`, ...items.flatMap((item, index) =>
      [deeper, ...item, index < items.length - 1 ? ",\n" : "\n"]), indent + close];
  if (Array.isArray(value)) return list("[", "]", value.map((item) => drawJson(field, item, names, deeper)));
  if (value !== null && typeof value === "object") {
    const entry = ([key, item]) => [make("span", { class: "key" }, JSON.stringify(key)), ": ", ...drawJson(key, item, names, deeper)];
    return list("{", "}", Object.entries(value).map(entry));
  }
  const name = typeof value === "string" ? names[field]?.[value] : undefined;
  const plain = make("span", { class: typeof value === "string" ? "text" : "word" }, JSON.stringify(value));
  return name === undefined ? [plain] : [plain, " ", make("span", { class: "named" }, name)];
}
