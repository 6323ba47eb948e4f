// Draws a scenario: its lanes, its steps, and an arrow for every message.

const run = JSON.parse(document.getElementById("run").textContent);

/** An element; texts become text nodes, never markup. `false` and null children are left out. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
}

/** The class of an answer's status; `undefined` is an answer that never came. */
function manner(status) {
  if (status === undefined || status >= 500) return "broken";
  return status >= 400 ? "refused" : "ok";
}

function millis(micros) {
  const value = micros / 1000;
  return `${value.toFixed(value < 100 ? 2 : 0)} ms`;
}

/** What no other scenario of the page is called. */
function idOf({ name, target }) {
  return run.targets.length > 1 ? `${name}@${target}` : name;
}

function drawFinding({ check, text }) {
  return make("div", { class: "difference", tabindex: -1 }, make("h4", {}, check), make("p", {}, text));
}

/** All that can be seen of a scenario once it is open. */
function drawScenario(scenario) {
  const { timeline } = scenario;
  return [
    make("p", { class: "summary" }, scenario.summary),
    scenario.reason && !timeline?.steps.some((step) => step.differences) &&
      make("p", { class: "reason" }, make("b", {}, scenario.outcome), ` ${scenario.reason}`),
    ...(scenario.findings ?? []).map(drawFinding),
    timeline && drawTimeline(scenario, timeline),
  ].filter(Boolean);
}

function drawTimeline(scenario, timeline) {
  const steps = timeline.steps.map((step) => drawStep(scenario, timeline, step));
  const drawn = make("div", { class: "timeline" }, drawLanes(timeline.lanes), steps);
  drawn.style.setProperty("--lanes", timeline.lanes.length);
  return drawn;
}

function drawLanes(lanes) {
  const head = ({ name, server, answers = {} }) => {
    const tally = Object.entries(answers).map(([status, times]) =>
      make("span", { class: manner(Number(status)), title: `answered ${status} ${times} times` }, `${status}×${times}`));
    return make("li", { class: server ? "server" : "client" }, make("b", {}, name), tally);
  };
  return make("ul", { class: "lanes", "aria-label": "Who takes part" }, lanes.map(head));
}

function drawStep(scenario, timeline, step) {
  const { line, prose, command, told = [], differences = [], messages = [] } = step;
  const id = `${idOf(scenario)}:${line}`;
  const text = make("code", {}, command.join("\n"));
  const shown = messages.length === 0 || told.length === 0;
  const title = shown ? text
    : make("button", { type: "button", class: "told", "aria-expanded": "false", "aria-controls": id }, text);
  const observation = told.length > 0 && differences.length === 0 &&
    make("pre", { id, class: "observation", hidden: !shown }, told.join("\n"));
  const marks = (step.marks ?? []).map(({ lane, text }) => {
    const mark = make("span", { class: "mark" }, text);
    mark.style.setProperty("--at", lane);
    return mark;
  });
  const manners = { note: step.note, unplayed: !step.played, differing: differences.length > 0 };
  return make("section", { class: ["step", ...Object.keys(manners).filter((manner) => manners[manner])].join(" ") },
    prose && make("p", { class: "prose" }, prose),
    make("h4", {},
      make("span", { class: "line", title: "line of the scenario" }, `line ${line}`),
      observation ? title : text,
      !step.played && make("em", {}, "not played")),
    observation,
    marks.length > 0 && make("div", { class: "row" }, make("span", {}), make("span", { class: "graph" }, marks)),
    messages.length > 0 && make("ol", {}, messages.map((message) => make("li", {}, drawMessage(timeline, message)))),
    drawDifferences(differences));
}

/** What is drawn for a message → what it says raw. */
const said = new WeakMap();

function drawMessage(timeline, message) {
  const { kind, from, to, status, exchange } = message;
  const names = timeline.lanes.map((lane) => lane.name);
  const answered = status ?? timeline.exchanges[exchange]?.reply?.status;
  const manners = kind === "frame" || kind === "end" ? kind : `${kind} ${manner(answered)}`;
  const wire = make("i", { class: `wire ${manners} ${to < from ? "left" : "right"}` });
  wire.style.setProperty("--at", Math.min(from, to));
  wire.style.setProperty("--span", Math.abs(to - from));
  const row = make("button", { type: "button", class: "row message", "aria-expanded": "false", "aria-controls": "exchange" },
    make("span", { class: "time" }, message.at_micros === undefined ? "·" : millis(message.at_micros)),
    make("span", { class: "graph", "aria-hidden": "true" }, wire),
    make("span", { class: "who" }, `${names[from]} → ${names[to]}`),
    make("span", { class: `status ${manners}` }, status ?? { frame: "event", end: "end", request: "…" }[kind]),
    make("span", { class: "title" }, kind === "reply" ? `to ${message.title}` : message.title),
    make("span", { class: "took" }, message.took_micros === undefined ? "" : millis(message.took_micros)));
  said.set(row, { timeline, message });
  return row;
}

/** The differences of a step: from what is told, then from what a real server answered, field by field. */
function drawDifferences(differences) {
  const fields = differences.filter(({ path }) => path !== undefined);
  const told = differences.filter(({ path }) => path === undefined).map((difference) =>
    drawDifference("Not as told", "− told  + observed", difference.reason, drawLines(difference)));
  const recorded = fields.flatMap(drawField);
  return fields.length === 0 ? told
    : [...told, drawDifference("Not as recorded", "− a real server  + observed", fields[0].reason, recorded)];
}

function drawDifference(title, legend, reason, lines) {
  return make("div", { class: reason ? "difference known" : "difference", tabindex: -1 },
    make("h5", {}, make("small", {}, legend), title, reason && make("span", {}, `: ${reason}`)),
    make("pre", {}, lines));
}

/** One field that differs: on one line if both its values are. */
function drawField({ path, recorded, observed }) {
  const name = make("span", { class: "path" }, path || "all of it");
  return `${recorded}${observed}`.includes("\n")
    ? [name, "\n", ...drawLines({ recorded, observed })]
    : [name, "  ", make("del", {}, `− ${recorded}`), "  ", make("ins", {}, `+ ${observed}`), "\n"];
}

function drawLines({ recorded, observed }) {
  const lines = (text) => (text === "" ? [] : text.split("\n"));
  return compare(lines(recorded), lines(observed)).map(([mark, sign, text]) =>
    make(mark, {}, make("span", { class: "sign" }, sign), `${text}\n`));
}

/** `left` and `right` as one list of `[element, sign, line]`, with as many lines in common as there can be. */
function compare(left, right) {
  const common = Array.from({ length: left.length + 1 }, () => new Array(right.length + 1).fill(0));
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      common[i][j] = left[i] === right[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const lines = [];
  for (let i = 0, j = 0; i < left.length || j < right.length; ) {
    if (i < left.length && j < right.length && left[i] === right[j]) lines.push(["span", "  ", left[i++], j++]);
    else if (i < left.length && (j === right.length || common[i + 1][j] >= common[i][j + 1])) lines.push(["del", "− ", left[i++]]);
    else lines.push(["ins", "+ ", right[j++]]);
  }
  return lines;
}
