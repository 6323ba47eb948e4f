// The list of scenarios, its filters, and the keyboard.

const list = document.getElementById("scenarios");
const field = document.getElementById("filter");
const help = document.getElementById("help");
const TITLES = { failed: "Failed", differs: "Known differences", passed: "Passed", skipped: "Skipped" };
/** The outcome that is asked for; all if empty. */
let wanted = "";

function say(text) {
  document.getElementById("said").textContent = text;
}

// -- The list

const entries = run.scenarios.map((scenario) => {
  const id = `timeline:${idOf(scenario)}`;
  const button = make("button", { type: "button", "aria-expanded": "false", "aria-controls": id },
    make("span", { class: `outcome ${scenario.outcome}` }, scenario.outcome),
    make("span", { class: "name" }, scenario.name, run.targets.length > 1 && make("small", {}, ` on ${scenario.target}`)),
    make("span", { class: "about" }, scenario.reason ?? scenario.summary),
    make("span", { class: "took" }, scenario.timeline ? `${(scenario.took_millis / 1000).toFixed(2)} s` : ""));
  const body = make("div", { class: "body", id, hidden: true });
  const article = make("article", { id: idOf(scenario), class: scenario.outcome }, make("h3", {}, button), body);
  const differs = (scenario.findings?.length ?? 0) > 0 || (scenario.timeline?.steps ?? []).some((step) => step.differences);
  const entry = { scenario, article, button, body, differs };
  button.addEventListener("click", () => {
    if (!body.hidden) return close(entry);
    open(entry);
    history.replaceState(null, "", `#${idOf(scenario)}`);
  });
  return entry;
});

/** Opens a scenario; it is drawn when it is opened for the first time. */
function open(entry) {
  if (entry.body.childElementCount === 0) entry.body.append(...drawScenario(entry.scenario));
  entry.body.hidden = false;
  entry.button.setAttribute("aria-expanded", "true");
}

function close(entry) {
  if (shown && entry.body.contains(shown)) closeExchange();
  entry.body.hidden = true;
  entry.button.setAttribute("aria-expanded", "false");
}

const groups = Object.entries(TITLES).map(([outcome, title]) => {
  const members = entries.filter((entry) => entry.scenario.outcome === outcome);
  const heading = make("h2", {}, title, make("span", {}, ` ${members.length}`));
  const section = make("section", { class: "group" }, heading, members.map((entry) => entry.article));
  return { members, section };
});
if (run.findings) {
  const between = make("h2", {}, "Between the targets", make("span", {}, ` ${run.findings.length}`));
  list.append(make("section", { class: "group" }, between, run.findings.map(drawFinding)));
}
list.append(...groups.filter(({ members }) => members.length > 0).map(({ section }) => section));

list.addEventListener("click", (event) => {
  const message = event.target.closest(".message");
  if (message) message === shown ? closeExchange() : openExchange(message);
  const told = event.target.closest("button.told");
  if (told) {
    const observation = document.getElementById(told.getAttribute("aria-controls"));
    observation.hidden = !observation.hidden;
    told.setAttribute("aria-expanded", String(!observation.hidden));
  }
});

// -- Filters

const chips = ["", ...Object.keys(TITLES)].map((outcome) => {
  const count = entries.filter((entry) => outcome === "" || entry.scenario.outcome === outcome).length;
  const chip = make("button", { type: "button", class: outcome || "all", "aria-pressed": String(outcome === "") },
    make("b", {}, String(count)), ` ${outcome || "all"}`);
  chip.addEventListener("click", () => {
    wanted = outcome;
    for (const other of chips) other.setAttribute("aria-pressed", String(other === chip));
    filter();
  });
  return chip;
});
document.getElementById("outcomes").append(...chips);

for (const head of document.querySelectorAll("[data-area]")) {
  const button = make("button", { type: "button" }, head.textContent);
  button.addEventListener("click", () => {
    const prefix = `${head.dataset.area}/`;
    field.value = field.value === prefix ? "" : prefix;
    filter();
  });
  head.replaceChildren(button);
}

function filter() {
  const text = field.value.trim().toLowerCase();
  for (const { scenario, article } of entries) {
    article.hidden = (wanted !== "" && scenario.outcome !== wanted) || !idOf(scenario).toLowerCase().includes(text);
  }
  for (const { members, section } of groups) section.hidden = members.every(({ article }) => article.hidden);
  const left = visible().length;
  say(text === "" && wanted === "" ? "" : `${left} of ${entries.length} scenarios`);
}
field.addEventListener("input", filter);
field.hidden = false;

// -- The keyboard

const visible = () => entries.filter(({ article }) => !article.hidden);
const here = () => shown ?? document.activeElement;
const current = () => visible().find(({ article }) => article.contains(here()));

/** The element of `elements` behind (or before) where the reader is. */
function beside(elements, step) {
  const side = step > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
  const place = here();
  const beyond = elements.filter((element) => element !== place && (place === document.body || place.compareDocumentPosition(element) & side));
  return beyond.at(step > 0 ? 0 : -1);
}

function goTo(element) {
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "nearest" });
}

function message(step) {
  const isOpen = visible().some(({ body }) => !body.hidden);
  if (!isOpen || (current()?.body.hidden && step > 0)) {
    const entry = current() ?? visible()[0];
    if (entry) open(entry);
  }
  const rows = visible().filter(({ body }) => !body.hidden).flatMap(({ body }) => [...body.querySelectorAll(".message")]);
  const next = beside(rows, step);
  if (!next) return say(step > 0 ? "That was the last message." : "That was the first message.");
  say("");
  if (shown) openExchange(next);
  else goTo(next);
}

function scenario(step) {
  const next = beside(visible().map(({ button }) => button), step);
  if (!next) return;
  if (shown) closeExchange();
  goTo(next);
}

/** Goes to the next difference, around the end if need be. */
function difference(step) {
  const differing = visible().filter((entry) => entry.differs);
  if (differing.length === 0) return say("There are no differences here.");
  if (shown) closeExchange();
  const at = current();
  const inside = at && !at.body.hidden && beside([...at.body.querySelectorAll(".difference")], step);
  if (inside) return goTo(inside);
  const waiting = at && at.differs && at.body.hidden ? at.button : beside(differing.map(({ button }) => button).filter((button) => button !== at?.button), step);
  const target = differing.find(({ button }) => button === waiting) ?? differing.at(step > 0 ? 0 : -1);
  open(target);
  goTo([...target.body.querySelectorAll(".difference")].at(step > 0 ? 0 : -1));
}

const KEYS = {
  j: () => message(1),
  k: () => message(-1),
  n: () => scenario(1),
  p: () => scenario(-1),
  d: () => difference(1),
  D: () => difference(-1),
  "/": () => { field.focus(); field.select(); },
  "?": () => help.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  const focused = document.activeElement;
  if (event.key === "Escape") {
    if (shown) closeExchange();
    else if (focused === field) { field.value = ""; filter(); field.blur(); }
    return;
  }
  if (focused === field) return;
  const onMessage = focused.matches(".message");
  const act = KEYS[event.key]
    || (onMessage && { ArrowDown: KEYS.j, ArrowUp: KEYS.k }[event.key])
    || (event.key === "Enter" && focused.matches("button") && (() => focused.click()));
  if (!act) return;
  event.preventDefault();
  act();
});

document.getElementById("close-exchange").addEventListener("click", closeExchange);
const askHelp = document.getElementById("ask-help");
askHelp.hidden = false;
askHelp.addEventListener("click", () => help.showModal());

// -- What is seen first

if (matchMedia("(max-width: 1100px)").matches) document.getElementById("areas").open = false;
const named = entries.find(({ scenario }) => idOf(scenario) === decodeURIComponent(location.hash.slice(1)));
const first = named ?? (entries.length === 1 || entries[0]?.scenario.outcome === "failed" ? entries[0] : undefined);
if (first) {
  open(first);
  if (named) goTo(first.button);
}
