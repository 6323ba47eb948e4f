// The timeline: lanes on a canvas, of which only what can be seen is drawn.

const BAR = 14, TRACK = 6, GAP = 8, TITLE = 15, AXIS = 22;

class Timeline {
  constructor(canvas, tip, picked) {
    Object.assign(this, { canvas, tip, picked, from: 0, to: Math.max(run.end, 1000), selected: null, pointers: new Map() });
    let y = AXIS;
    for (const lane of lanes) {
      lane.y = y;
      lane.height = TITLE + BAR + lane.tracks.length * TRACK + GAP;
      y += lane.height;
    }
    this.height = y + 4;
    this.listen();
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.colours = null; this.draw(); });
  }

  resize() {
    const ratio = devicePixelRatio || 1;
    this.width = this.canvas.parentElement.clientWidth;
    this.canvas.width = this.width * ratio;
    this.canvas.height = this.height * ratio;
    this.canvas.style.height = this.height + "px";
    this.draw();
  }

  x(at) { return (at - this.from) / (this.to - this.from) * this.width; }
  time(x) { return this.from + x / this.width * (this.to - this.from); }

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => { this.frame = 0; this.paint(); });
  }

  colour(name) {
    if (!this.colours) this.colours = new Map();
    if (!this.colours.has(name)) this.colours.set(name, getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim());
    return this.colours.get(name);
  }

  paint() {
    const ratio = devicePixelRatio || 1, context = this.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.font = "11px system-ui, sans-serif";
    this.axis(context);
    lanes.forEach((lane, index) => this.lane(context, lane, index));
    document.getElementById("range").textContent = seconds(this.from) + " to " + seconds(this.to) + " of " + seconds(run.end);
  }

  axis(context) {
    const step = niceStep((this.to - this.from) / Math.max(this.width / 110, 2));
    for (let at = Math.ceil(this.from / step) * step; at <= this.to; at += step) {
      const x = Math.round(this.x(at)) + 0.5;
      context.fillStyle = this.colour("line");
      context.fillRect(x, AXIS - 6, 1, this.height);
      context.fillStyle = this.colour("faint");
      context.fillText(axisText(at, step), x + 3, 13);
    }
  }

  lane(context, lane, index) {
    if (index % 2 === 0) { context.globalAlpha = 0.6; context.fillStyle = this.colour("band"); context.fillRect(0, lane.y, this.width, lane.height); context.globalAlpha = 1; }
    context.fillStyle = this.colour("faint");
    context.fillText(lane.name + " (" + (lane.items.length + lane.watches.length) + ")", 4, lane.y + 12);
    const top = lane.y + TITLE;
    for (const item of lane.watches) this.watch(context, item, top + BAR + item.track * TRACK);
    // The longest request is not known to the search, so it begins somewhat early.
    const first = lowerBound(lane.items, this.from - longest(lane));
    // Failures last, so that no success hides them.
    for (const failures of [false, true]) {
      for (let at = first; at < lane.items.length && lane.items[at].from <= this.to; at++) {
        const item = lane.items[at];
        if ((item.kind === "request" && outcome(item.code) !== "ok") === failures) this.bar(context, item, top);
      }
    }
  }

  bar(context, item, top) {
    const left = this.x(item.from), right = this.x(item.to);
    if (right < -2) return;
    const width = Math.max(right - left, 2);
    if (item.kind === "request") {
      context.fillStyle = this.colour(outcome(item.code));
      context.fillRect(left, top, width, BAR - 4);
      if (item.request.fault) { context.fillStyle = this.colour("struck"); context.fillRect(left, top - 3, Math.max(width, 3), 3); }
    } else {
      context.fillStyle = this.colour(item.kind === "change" ? "watch" : item.kind === "missed" ? "server" : item.kind === "clock" ? "accent" : "struck");
      if (item.kind === "change") { context.fillRect(left, top, 2, BAR - 4); } else { context.beginPath(); context.arc(left, top + 5, 4.5, 0, 7); context.fill(); }
    }
    if (item === this.selected) this.ring(context, left, top, width, BAR - 4);
  }

  watch(context, item, y) {
    const left = Math.max(this.x(item.from), -2), right = Math.min(this.x(item.to), this.width + 2);
    if (right < 0 || left > this.width) return;
    context.fillStyle = this.colour("watch");
    context.fillRect(left, y, Math.max(right - left, 2), TRACK - 2);
    context.fillStyle = this.colour("accent");
    for (const [at] of item.sent || []) { const x = this.x(at); if (x >= left && x <= right + 1) context.fillRect(x, y - 1, 1.5, TRACK); }
    if (item.request.fault) { context.fillStyle = this.colour("struck"); context.fillRect(left, y - 2, 6, TRACK + 2); }
    if (item === this.selected) this.ring(context, left, y, Math.max(right - left, 2), TRACK - 2);
  }

  ring(context, x, y, width, height) {
    context.strokeStyle = this.colour("ink");
    context.lineWidth = 2;
    context.strokeRect(x - 2, y - 2, width + 4, height + 4);
  }

  // Shows what is between two times, neither of which leaves the run by much.
  show(from, to) {
    const span = Math.min(Math.max(to - from, 50), Math.max(run.end * 1.05, 1000));
    from = Math.min(Math.max(from, -span * 0.2), run.end - span * 0.2);
    Object.assign(this, { from, to: from + span });
    this.draw();
  }

  zoom(factor, x = this.width / 2) {
    const at = this.time(x);
    this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  all() { this.show(0, Math.max(run.end, 1000)); }

  // Shows an item, and zooms in if it could hardly be seen.
  select(item, moves) {
    this.selected = item;
    if (item && moves && (item.at < this.from || item.from > this.to)) {
      const span = this.to - this.from;
      this.show(item.from - span / 2, item.from + span / 2);
    }
    this.draw();
  }

  // The item at a place, or the nearest one in its lane.
  at(x, y) {
    const lane = lanes.find((lane) => y >= lane.y && y < lane.y + lane.height);
    if (!lane) return null;
    const track = Math.floor((y - lane.y - TITLE - BAR + 2) / TRACK);
    const watch = lane.watches.find((item) => item.track === track && this.x(item.from) <= x + 4 && this.x(item.to) >= x - 4);
    if (watch) return watch;
    let best = null, least = 9;
    for (let at = lowerBound(lane.items, this.time(x - 10) - longest(lane)); at < lane.items.length && this.x(lane.items[at].from) <= x + 10; at++) {
      const left = this.x(lane.items[at].from), right = Math.max(this.x(lane.items[at].to), left + 2);
      const distance = x < left ? left - x : x > right ? x - right : 0;
      if (distance <= least) { least = distance; best = lane.items[at]; }
    }
    return best;
  }

  listen() {
    const canvas = this.canvas, place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const [x] = place(event), span = this.to - this.from;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        const by = (event.deltaX || event.deltaY) / this.width * span;
        this.show(this.from + by, this.to + by);
      } else this.zoom(Math.exp(event.deltaY * 0.0015), x);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      try { canvas.setPointerCapture(event.pointerId); } catch { /* a pointer that is gone */ }
      this.pointers.set(event.pointerId, place(event));
      this.moved = 0;
    });
    canvas.addEventListener("pointermove", (event) => this.move(event.pointerId, place(event), event));
    const up = (event) => {
      const was = this.pointers.delete(event.pointerId);
      if (was && event.type === "pointerup" && this.moved < 6) { const found = this.at(...place(event)); if (found) this.picked(found); }
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    canvas.addEventListener("keydown", (event) => {
      const span = this.to - this.from, by = { ArrowLeft: -0.2, ArrowRight: 0.2 }[event.key];
      if (by) this.show(this.from + by * span, this.to + by * span);
      else if (event.key === "+" || event.key === "=") this.zoom(0.7);
      else if (event.key === "-") this.zoom(1.4);
    });
  }

  move(id, [x, y], event) {
    const before = this.pointers.get(id);
    if (!before) return this.hover(x, y, event);
    this.pointers.set(id, [x, y]);
    this.moved += Math.abs(x - before[0]) + Math.abs(y - before[1]);
    const others = [...this.pointers].filter(([other]) => other !== id);
    if (others.length === 1) {
      const other = others[0][1][0], apart = Math.max(Math.abs(x - other), 8), was = Math.max(Math.abs(before[0] - other), 8);
      return this.zoom(was / apart, (x + other) / 2);
    }
    const by = (before[0] - x) / this.width * (this.to - this.from);
    this.show(this.from + by, this.to + by);
  }

  hover(x, y, event) {
    const found = event.pointerType === "mouse" ? this.at(x, y) : null;
    this.tip.hidden = !found;
    if (!found) return;
    this.tip.textContent = found.kind === "request" ? found.request.cursor + " " + found.verb + " " + found.what + ": " + (found.code || "no answer") : found.verb + " " + found.what;
    this.tip.style.left = Math.min(event.clientX + 12, innerWidth - 260) + "px";
    this.tip.style.top = event.clientY + 14 + "px";
  }
}

function longest(lane) {
  lane.longest ??= lane.items.reduce((most, item) => Math.max(most, item.to - item.from), 0);
  return lane.longest;
}

// The index of the first item that begins at that time or later.
function lowerBound(list, from) {
  let low = 0, high = list.length;
  while (low < high) { const middle = (low + high) >> 1; if (list[middle].from < from) low = middle + 1; else high = middle; }
  return low;
}

function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least);
}

function axisText(at, step) {
  if (step >= 1e6) return at / 1e6 + " s";
  return step >= 1000 ? Math.round(at / 1000) + " ms" : at + " µs";
}
