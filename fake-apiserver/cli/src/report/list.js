// The list of what happened: rows are made for what can be seen.

class List {
  constructor(box, spacer, form, count, picked) {
    Object.assign(this, { box, spacer, form, count, picked, shown: [], rows: new Map(), selected: null });
    for (const field of ["client", "resource", "verb", "code"]) this.choices(field);
    form.addEventListener("input", () => this.filter());
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    box.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.layout()).observe(box);
    this.filter();
  }

  choices(field) {
    const numbers = new Map();
    for (const item of items) if (item[field] !== "" && item.kind !== "change") numbers.set(item[field], (numbers.get(item[field]) || 0) + 1);
    const options = [...numbers].sort((a, b) => b[1] - a[1]).map(([value, number]) => new Option((value === 0 ? "no answer" : value) + " (" + number + ")", String(value)));
    this.form.elements[field].replaceChildren(new Option("all", ""), ...options);
  }

  filter() {
    const wanted = Object.fromEntries(["client", "resource", "verb", "code"].map((field) => [field, this.form.elements[field].value]));
    const text = this.form.elements.text.value.toLowerCase(), changes = this.form.elements.changes.checked;
    const fields = Object.entries(wanted).filter(([, value]) => value !== "");
    this.shown = items.filter((item) => (changes || item.kind !== "change") && fields.every(([field, value]) => String(item[field]) === value) && (!text || item.search.includes(text)));
    this.count.textContent = this.shown.length + " of " + items.length;
    this.box.scrollTop = 0;
    this.layout();
  }

  layout() {
    this.height = innerWidth <= 700 ? 44 : 28;
    this.spacer.style.height = this.shown.length * this.height + "px";
    this.spacer.replaceChildren();
    this.rows.clear();
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - 10);
    const last = Math.min(this.shown.length, first + Math.ceil(this.box.clientHeight / this.height) + 20);
    for (const [index, row] of this.rows) if (index < first || index >= last) { row.remove(); this.rows.delete(index); }
    const more = document.createDocumentFragment();
    for (let index = first; index < last; index++) if (!this.rows.has(index)) { const row = this.row(this.shown[index], index); this.rows.set(index, row); more.append(row); }
    this.spacer.append(more);
  }

  row(item, index) {
    const row = document.createElement("div");
    row.className = "row" + (index % 2 ? " even" : "") + (item === this.selected ? " picked" : "");
    row.role = "listitem";
    row.style.top = index * this.height + "px";
    const cell = (text, name) => { const span = document.createElement("span"); span.textContent = text; if (name) span.className = name; row.append(span); return span; };
    const request = item.request;
    cell(request ? request.cursor : item.change ? item.change.revision : "", "number");
    cell(seconds(item.from), "number");
    cell(item.client, "client").title = item.client;
    cell(item.verb, request ? "" : item.kind === "change" ? "" : "mark");
    cell(item.what, "what").title = item.what;
    cell(request ? (item.code || "none") : "", request ? "code " + outcome(item.code) : "");
    cell(request ? (item.watch ? (item.events ?? "?") + " events" : lasting(request.tookMicros || 0)) + (request.fault ? " ⚡" : "") : "", "");
    row.addEventListener("click", () => this.picked(item));
    return row;
  }

  select(item, moves) {
    this.selected = item;
    const index = this.shown.indexOf(item);
    if (moves && index >= 0) {
      const top = index * this.height, box = this.box;
      if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - this.height) box.scrollTop = top - box.clientHeight / 2;
    }
    for (const [at, row] of this.rows) row.classList.toggle("picked", this.shown[at] === item);
    this.draw();
  }

  key(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || !this.shown.length) return;
    event.preventDefault();
    const index = Math.min(Math.max(this.shown.indexOf(this.selected) + by, 0), this.shown.length - 1);
    this.picked(this.shown[index]);
  }
}
