// Put behind the page's own script by html.rs: presses keys and looks at what happens.

const here = () => document.activeElement;
const find = (selector) => document.querySelector(selector);
const panel = find("#exchange");

function press(key) {
  here().dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
}

function check(what, holds) {
  if (!holds) fault(`not so: ${what} (at ${here().tagName} ${here().textContent.slice(0, 60)})`);
}

function fits(when) {
  const { scrollWidth } = document.documentElement;
  check(`nothing is wider than the window ${when}: ${scrollWidth} > ${innerWidth}`, scrollWidth <= innerWidth);
}

check(`the window is as wide as was asked for: ${innerWidth}`, location.search === `?${innerWidth}`);
const titles = [...document.querySelectorAll("article .name")].map((name) => name.textContent);
check("failures come first", titles.join() === "made-up/wrong on embedded,skew/skewed-nbf on embedded,skew/skewed-nbf on stone");
check("the first failure is open", find("article h3 button").getAttribute("aria-expanded") === "true");
check("what is closed is not drawn", find("[id='skew/skewed-nbf@embedded'] .body").childElementCount === 0);
check("a skipped scenario says why", find("article.skipped").textContent.includes("has no clock"));
check("what differs between the targets is said", find("main .group").textContent.includes("a stone is silent"));
check("text stays text", find("article.failed h4 code").textContent.includes("<\/script><script>"));
fits("at first");

press("?");
check("? opens the keys", find("#help").open);
fits("with the keys");
find("#help").close();
here().blur();

press("j");
const first = here();
check("j goes to the first message", first.matches(".message") && first.textContent.includes("POST configmaps"));
press("j");
check("j goes on", here() !== first && here().textContent.includes("GET configmaps/a"));
press("ArrowUp");
check("the arrow goes back", here() === first);
press("Enter");
check("Enter opens the exchange", !panel.hidden && first.getAttribute("aria-expanded") === "true");
check("the focus goes there", panel.contains(here()));
check("it is raw", /POST \/api\/v1\/namespaces\/[^/]+\/configmaps/.test(panel.textContent) && panel.textContent.includes('"kind": "ConfigMap"'));
check("values have their names", panel.querySelector(".named") !== null);
fits("with an exchange");
press("j");
check("j goes on in the exchange", /GET \/api\/v1\/namespaces\/[^/]+\/configmaps\/a/.test(panel.textContent) && first.getAttribute("aria-expanded") === "false");
press("k");
press("Escape");
check("Escape closes it and goes back", panel.hidden && here() === first && first.getAttribute("aria-expanded") === "false");

press("d");
check("d goes to a difference", here().matches(".difference") && here().querySelector("del").textContent.includes("data.k = w"));
check("what agrees is not marked", !here().querySelector("ins").textContent.includes("metadata.name"));
const difference = here();
press("d");
check("d goes on", here().matches(".difference") && here() !== difference && here().textContent.includes("404 NotFound"));
press("d");
check("d begins anew", here() === difference);

press("n");
check("n goes to the next scenario", here().textContent.includes("skew/skewed-nbf"));
press("Enter");
const skewed = document.getElementById("skew/skewed-nbf@embedded");
check("Enter opens it", here().getAttribute("aria-expanded") === "true");
const servers = [...skewed.querySelectorAll(".lanes .server")].map((lane) => [lane.querySelector("b").textContent, lane.textContent.includes("401×")].join());
check(`one of three servers answers 401: ${servers.join(" ")}`, servers.join(" ") === "server 1,false server 2,false server 3,true");
check("all its refusals come from there", [...skewed.querySelectorAll(".message .refused.status")].every((status) => status.closest(".message").textContent.includes("token → server 3")));
fits("with three servers");
press("p");
check("p goes back", here().textContent.includes("made-up/wrong"));

press("/");
check("/ goes to the filter", here() === find("#filter"));
here().value = "STONE";
here().dispatchEvent(new Event("input"));
const visible = () => [...document.querySelectorAll("article")].filter((article) => article.checkVisibility()).length;
check("it filters", visible() === 1 && find("#said").textContent === "1 of 3 scenarios");
press("Escape");
check("Escape shows all", visible() === 3);
find("#outcomes .failed").click();
check("outcomes filter", visible() === 1);
find("#outcomes .all").click();
