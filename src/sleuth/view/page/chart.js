// One chart: curves over steps, with what was found marked. All charts share the steps they show and the step read off.
const view = { range: null, cursor: null, selected: null, rank: "all" };
const charts = [];
const MARGIN = { left: 58, right: 14, top: 18, bottom: 24 };
const COLOURS = 8;
// A line or a dot at the very edge is shown whole.
const OVERHANG = 4;
// With fewer points than this each gets a dot: an evaluation now and then is not a line.
const FEW_POINTS = 40;
// A range this wide cannot be read on a linear scale.
const WIDE_RANGE = 1000;
const SMALLEST_DRAG = 6;
let theme = null;
let waiting = 0;

function colours() {
  if (theme) return theme;
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  theme = { ink: of("ink"), soft: of("soft"), line: of("line"), panel: of("panel"), faint: of("faint") };
  for (const name of ["error", "warning", "note"]) theme[name] = of(name);
  theme.series = Array.from({ length: COLOURS }, (_, index) => of(`series-${index}`));
  theme.font = `11px ${style.getPropertyValue("--sans").trim()}`;
  return theme;
}

function redraw() {
  if (waiting) return;
  waiting = requestAnimationFrame(() => {
    waiting = 0;
    for (const chart of charts) chart.draw();
    if (store.run && !document.documentElement.dataset.drawn) {
      document.documentElement.dataset.drawn = "yes";
      performance.mark("sleuth-drawn");
    }
  });
}

function readOff(step) {
  view.cursor = step;
  for (const chart of charts) chart.drawOverlay();
}

function show(range) {
  view.range = range;
  redraw();
  document.dispatchEvent(new Event("zoomed"));
}

const nearby = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      const chart = charts.find((one) => one.plot === entry.target);
      if (!chart) continue;
      chart.isNear = entry.isIntersecting;
      chart.draw();
    }
  },
  { rootMargin: "300px" },
);
const resized = new ResizeObserver(() => redraw());

class Chart {
  // `fromZero` is for amounts; `robust` for what has spikes that say nothing of the rest.
  constructor({ title, format = plain, lines, wide = false, fromZero = false, robust = false }) {
    this.title = title;
    this.format = format;
    this.lines = lines;
    this.fromZero = fromZero;
    this.robust = robust;
    this.log = null;
    this.isNear = true;
    this.base = element("canvas");
    this.overlay = element("canvas");
    this.tip = element("div", { class: "tip", hidden: true });
    this.legend = element("ul", { class: "legend" });
    this.logSwitch = element("button", { type: "button", class: "switch", "aria-pressed": "false" }, "log");
    this.logSwitch.setAttribute("aria-label", `Logarithmic scale for ${title}`);
    this.logSwitch.addEventListener("click", () => this.setLog(!this.isLog));
    this.plot = element(
      "div",
      { class: "plot", role: "slider", tabindex: 0, "aria-label": `${title} by step`, "aria-valuemin": 0 },
      this.base,
      this.overlay,
      this.tip,
    );
    this.heading = element("header", {}, element("h3", {}, title), this.legend, this.logSwitch);
    this.element = element("section", { class: wide ? "card wide" : "card" }, this.heading, this.plot);
    this.listen();
    charts.push(this);
    nearby.observe(this.plot);
    resized.observe(this.plot);
  }

  setLog(on) {
    this.log = on;
    this.draw();
  }

  draw() {
    if (!this.isNear || !this.plot.clientWidth) return;
    const lines = this.lines();
    this.drawn = lines;
    const width = this.plot.clientWidth;
    const height = this.plot.clientHeight;
    const [from, to] = view.range ?? [0, store.lastStep];
    this.setScale(lines, from, to, width, height);
    this.logSwitch.setAttribute("aria-pressed", String(this.isLog));
    const pen = this.cleared(this.base, width, height);
    this.drawGrid(pen, from, to, width, height);
    pen.save();
    pen.beginPath();
    pen.rect(MARGIN.left - OVERHANG, 0, width - MARGIN.left - MARGIN.right + 2 * OVERHANG, height - MARGIN.bottom + 1);
    pen.clip();
    for (const line of lines) if (line.faint) this.drawLine(pen, line);
    for (const line of lines) if (!line.faint && !line.strong) this.drawBand(pen, line);
    for (const line of lines) if (!line.faint && !line.strong) this.drawLine(pen, line);
    for (const line of lines) if (line.strong) { this.drawBand(pen, line); this.drawLine(pen, line); }
    this.drawFindings(pen, height);
    pen.restore();
    this.showLegend();
    this.drawOverlay();
  }

  cleared(canvas, width, height) {
    const density = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * density) || canvas.height !== Math.round(height * density)) {
      canvas.width = Math.round(width * density);
      canvas.height = Math.round(height * density);
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(density, 0, 0, density, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = colours().font;
    pen.lineJoin = "round";
    return pen;
  }

  setScale(lines, from, to, width, height) {
    const all = this.extent(lines, from, to, false);
    const positive = this.extent(lines, from, to, true);
    const automatic = all !== null && all[0] > 0 && all[1] / all[0] > WIDE_RANGE;
    this.isLog = (this.log ?? automatic) && positive !== null;
    let [low, high] = (this.isLog ? positive : all) ?? [0, 1];
    if (this.isLog) {
      const room = Math.max(1.1, (high / low) ** 0.05);
      [low, high] = [low / room, high * room];
    } else {
      if (low >= 0 && (this.fromZero || low < high * 0.4)) low = 0;
      if (this.robust && !this.isLog) high = this.usualHeight(lines, from, to) ?? high;
      const room = (high - low || Math.abs(high) || 1) * 0.06;
      [low, high] = [low === 0 ? 0 : low - room, high + room];
    }
    const left = MARGIN.left;
    const right = width - MARGIN.right;
    const bottom = height - MARGIN.bottom;
    const bend = this.isLog ? Math.log10 : (value) => value;
    const [start, end] = [bend(low), bend(high)];
    const stretch = to - from || 1;
    this.low = low;
    this.high = high;
    this.x = (step) => left + ((step - from) / stretch) * (right - left);
    this.y = (value) => bottom - ((bend(value) - start) / (end - start)) * (bottom - MARGIN.top);
    this.stepAt = (x) => from + ((x - left) / (right - left)) * stretch;
  }

  // Twice what nine of ten points stay below: a step that waits, or warms up, leaves the picture and not the others.
  usualHeight(lines, from, to) {
    const tops = lines.map(({ curve }) => 2 * quantile([...curve.mean].filter((_, index) => curve.step[index] >= from && curve.step[index] <= to), 0.9));
    const [, highest] = this.extent(lines, from, to, false) ?? [0, 0];
    const top = Math.min(highest, Math.max(...tops.filter(Number.isFinite)));
    return top > 0 ? top : null;
  }

  extent(lines, from, to, positive) {
    let low = Infinity;
    let high = -Infinity;
    for (const { curve, faint } of lines) {
      const [lows, highs] = faint ? [curve.mean, curve.mean] : [curve.low, curve.high];
      for (let index = 0; index < lows.length; index += 1) {
        if (curve.step[index] < from || curve.step[index] > to) continue;
        if (Number.isFinite(lows[index]) && lows[index] < low && (!positive || lows[index] > 0)) low = lows[index];
        if (Number.isFinite(highs[index]) && highs[index] > high && (!positive || highs[index] > 0)) high = highs[index];
      }
    }
    if (low === Infinity && high === -Infinity) return null;
    return [Math.min(low, high), Math.max(low, high)];
  }

  drawGrid(pen, from, to, width, height) {
    const { soft, line } = colours();
    const bottom = height - MARGIN.bottom;
    const wanted = Math.max(2, Math.floor(bottom / 36));
    const across = (this.isLog ? logTicks : linearTicks)(this.low, this.high, wanted);
    pen.fillStyle = soft;
    pen.strokeStyle = line;
    pen.lineWidth = 1;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const tick of across) {
      const y = Math.round(this.y(tick)) + 0.5;
      pen.beginPath();
      pen.moveTo(MARGIN.left, y);
      pen.lineTo(width - MARGIN.right, y);
      pen.stroke();
      pen.fillText(this.format(tick), MARGIN.left - 8, y);
    }
    pen.textBaseline = "alphabetic";
    for (const tick of stepTicks(from, to, Math.max(2, Math.floor(width / 110)))) {
      const label = steps(tick);
      const half = pen.measureText(label).width / 2;
      pen.textAlign = "center";
      pen.fillText(label, Math.min(Math.max(this.x(tick), MARGIN.left - 4 + half), width - half - 2), height - 7);
    }
  }

  drawBand(pen, { curve, colour }) {
    if (curve.low === curve.mean) return;
    pen.fillStyle = colours().series[colour % COLOURS];
    pen.globalAlpha = 0.16;
    const floor = (value) => this.y(this.isLog ? Math.max(value, this.low) : value);
    for (const [start, end] of this.stretches(curve)) {
      pen.beginPath();
      for (let index = start; index < end; index += 1) pen.lineTo(this.x(curve.step[index]), floor(curve.high[index]));
      for (let index = end - 1; index >= start; index -= 1) pen.lineTo(this.x(curve.step[index]), floor(curve.low[index]));
      pen.fill();
    }
    pen.globalAlpha = 1;
  }

  drawLine(pen, { curve, colour, faint, strong, traced }) {
    const { series, faint: grey, ink } = colours();
    pen.strokeStyle = traced ? ink : faint ? grey : series[colour % COLOURS];
    pen.fillStyle = pen.strokeStyle;
    pen.lineWidth = faint && !traced ? 0.75 : strong ? 2.5 : 1.5;
    pen.setLineDash(!faint && colour >= COLOURS ? [5, 3] : []);
    for (const [start, end] of this.stretches(curve)) {
      pen.beginPath();
      let last = -Infinity;
      for (let index = start; index < end; index += 1) {
        const x = this.x(curve.step[index]);
        // A faint line only shows where the others are; a point a pixel is enough.
        if (faint && x - last < 1 && index < end - 1) continue;
        last = x;
        pen.lineTo(x, this.y(curve.mean[index]));
      }
      pen.stroke();
      if (!faint && (end - start === 1 || curve.step.length <= FEW_POINTS)) this.drawDots(pen, curve, start, end);
    }
    pen.setLineDash([]);
    if (!faint) this.drawNotFinite(pen, curve);
  }

  drawDots(pen, curve, start, end) {
    for (let index = start; index < end; index += 1) {
      pen.beginPath();
      pen.arc(this.x(curve.step[index]), this.y(curve.mean[index]), 2.2, 0, 7);
      pen.fill();
    }
  }

  // Where a curve is not finite, and on a logarithmic scale not positive, it breaks off.
  stretches(curve) {
    const found = [];
    let start = -1;
    const [from, to] = view.range ?? [-Infinity, Infinity];
    for (let index = 0; index <= curve.mean.length; index += 1) {
      const value = curve.mean[index];
      const inside = curve.step[index + 1] >= from || index === curve.mean.length - 1 || curve.step[index] >= from;
      const before = index === 0 || curve.step[index - 1] <= to;
      const good = index < curve.mean.length && Number.isFinite(value) && (!this.isLog || value > 0) && inside && before;
      if (good && start < 0) start = index;
      if (!good && start >= 0) {
        found.push([start, index]);
        start = -1;
      }
    }
    return found;
  }

  drawNotFinite(pen, curve) {
    pen.fillStyle = colours().error;
    let last = -Infinity;
    for (let index = 0; index < curve.mean.length; index += 1) {
      if (Number.isFinite(curve.mean[index])) continue;
      const x = this.x(curve.step[index]);
      if (x - last < 5) continue;
      last = x;
      pen.beginPath();
      pen.moveTo(x - 4, MARGIN.top - 4);
      pen.lineTo(x + 4, MARGIN.top - 4);
      pen.lineTo(x, MARGIN.top + 3);
      pen.fill();
    }
  }

  drawFindings(pen, height) {
    for (const finding of store.findings) if (finding.step !== null) this.drawFinding(pen, finding, height);
  }

  drawFinding(pen, finding, height) {
    const chosen = finding === view.selected;
    const x = Math.round(this.x(finding.step)) + 0.5;
    const colour = colours()[finding.severity] ?? colours().ink;
    pen.strokeStyle = colour;
    pen.globalAlpha = chosen ? 1 : 0.55;
    pen.lineWidth = chosen ? 2 : 1;
    pen.setLineDash(chosen ? [] : [3, 3]);
    pen.beginPath();
    pen.moveTo(x, chosen ? 14 : MARGIN.top - 4);
    pen.lineTo(x, height - MARGIN.bottom);
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 1;
    if (!chosen) return;
    const label = `step ${steps(finding.step)}`;
    const room = pen.measureText(label).width + 10;
    const left = Math.min(Math.max(x - room / 2, MARGIN.left), this.plot.clientWidth - MARGIN.right - room);
    pen.fillStyle = colour;
    pen.beginPath();
    pen.roundRect(left, 0, room, 15, 4);
    pen.fill();
    pen.fillStyle = colours().panel;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.fillText(label, left + 5, 8);
    pen.textBaseline = "alphabetic";
  }

  drawOverlay() {
    if (!this.isNear || !this.drawn) return;
    const width = this.plot.clientWidth;
    const height = this.plot.clientHeight;
    const pen = this.cleared(this.overlay, width, height);
    this.showValues();
    if (this.drag) this.drawDrag(pen, height);
    if (view.cursor === null) {
      this.tip.hidden = true;
      return;
    }
    const x = Math.round(this.x(view.cursor)) + 0.5;
    if (x < MARGIN.left - 1 || x > width - MARGIN.right + 1) return;
    pen.strokeStyle = colours().soft;
    pen.globalAlpha = 0.6;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x, MARGIN.top - 4);
    pen.lineTo(x, height - MARGIN.bottom);
    pen.stroke();
    pen.globalAlpha = 1;
    // The one of the crowd that is pointed at stands out.
    if (this.near?.faint) this.drawLine(pen, { ...this.near, traced: true });
    for (const line of this.drawn) if (!line.faint || line.curve === this.near?.curve) this.drawReading(pen, line);
  }

  drawReading(pen, { curve, colour, faint }) {
    const index = nearest(curve, view.cursor);
    const value = curve.mean[index];
    if (!Number.isFinite(value) || (this.isLog && value <= 0)) return;
    pen.beginPath();
    pen.arc(this.x(curve.step[index]), this.y(value), 3.5, 0, 7);
    pen.fillStyle = faint ? colours().ink : colours().series[colour % COLOURS];
    pen.fill();
    pen.lineWidth = 1.5;
    pen.strokeStyle = colours().panel;
    pen.stroke();
  }

  drawDrag(pen, height) {
    const [from, to] = this.drag;
    pen.fillStyle = colours().note;
    pen.globalAlpha = 0.14;
    pen.fillRect(Math.min(from, to), MARGIN.top, Math.abs(to - from), height - MARGIN.bottom - MARGIN.top);
    pen.globalAlpha = 1;
  }

  showLegend() {
    const keys = this.drawn.map((line) => line.label).join("\n");
    if (this.legendKeys !== keys) {
      this.legendKeys = keys;
      this.values = this.drawn.map(() => element("data"));
      this.legend.replaceChildren(
        ...this.drawn.map((line, index) =>
          element(
            "li",
            { class: "key" },
            this.drawn.length > 1 && element("i", { class: `swatch series-${line.colour % COLOURS}` }),
            this.drawn.length > 1 && element("span", {}, line.label),
            this.values[index],
          ),
        ),
      );
    }
    this.showValues();
  }

  showValues() {
    this.drawn.forEach((line, index) => setText(this.values[index], this.reading(line.curve)));
    this.plot.setAttribute("aria-valuemax", store.lastStep);
    this.plot.setAttribute("aria-valuenow", Math.round(view.cursor ?? store.lastStep));
    this.plot.setAttribute("aria-valuetext", this.sentence());
  }

  reading(curve) {
    if (this.robust && view.cursor === null) return this.format(quantile([...curve.mean], 0.5));
    const index = view.cursor === null ? curve.mean.length - 1 : nearest(curve, view.cursor);
    return this.format(curve.mean[index]);
  }

  sentence() {
    const told = this.drawn.filter((line) => !line.faint).slice(0, COLOURS);
    const where = view.cursor === null ? (this.robust ? "median" : "last") : `step ${steps(Math.round(view.cursor))}`;
    return `${where}: ${told.map((line) => `${line.label} ${this.reading(line.curve)}`).join(", ") || "no value"}`;
  }

  listen() {
    this.plot.addEventListener("pointermove", (event) => this.moved(event));
    this.plot.addEventListener("pointerleave", () => this.left());
    this.plot.addEventListener("pointerdown", (event) => this.pressed(event));
    this.plot.addEventListener("pointerup", (event) => this.released(event));
    this.plot.addEventListener("dblclick", () => show(null));
    this.plot.addEventListener("keydown", (event) => this.keyed(event));
    this.plot.addEventListener("blur", () => this.left());
  }

  moved(event) {
    if (!this.drawn) return;
    const box = this.plot.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (this.pressedAt !== undefined && Math.abs(x - this.pressedAt) > SMALLEST_DRAG) this.drag = [this.pressedAt, x];
    this.near = this.nearestTo(x, y);
    if (!this.near) return;
    readOff(this.near.curve.step[this.near.index]);
    this.showTip();
  }

  // Of all curves the one whose point at that step is nearest; a coloured one before a faint one.
  nearestTo(x, y) {
    let best = null;
    let closest = Infinity;
    for (const line of this.drawn) {
      const index = nearest(line.curve, this.stepAt(x));
      const value = line.curve.mean[index];
      const at = Number.isFinite(value) && (!this.isLog || value > 0) ? this.y(value) : MARGIN.top;
      const distance = Math.abs(at - y) + (line.faint ? 6 : 0);
      if (distance < closest) {
        closest = distance;
        best = { ...line, index, at };
      }
    }
    return best;
  }

  showTip() {
    const { curve, label, index, at } = this.near;
    const [first, count] = [curve.first[index], curve.count[index]];
    const when = count > 1 ? `steps ${steps(first)}–${steps(first + count - 1)}` : `step ${steps(first)}`;
    const spread = curve.low[index] !== curve.high[index];
    const range = spread ? `${this.format(curve.low[index])} to ${this.format(curve.high[index])}` : null;
    this.tip.replaceChildren(
      element("b", {}, this.format(curve.mean[index])),
      element("span", {}, when),
      element("span", { class: "name" }, label),
      range === null ? "" : element("span", {}, range),
    );
    this.tip.hidden = false;
    const x = this.x(curve.step[index]);
    const width = this.tip.offsetWidth;
    const beside = x + 14 + width > this.plot.clientWidth ? x - 14 - width : x + 14;
    const above = Math.min(Math.max(at - this.tip.offsetHeight - 8, 0), this.plot.clientHeight - this.tip.offsetHeight);
    this.tip.style.transform = `translate(${Math.max(0, Math.round(beside))}px, ${Math.round(above)}px)`;
  }

  left() {
    this.near = null;
    this.drag = undefined;
    this.pressedAt = undefined;
    this.tip.hidden = true;
    readOff(null);
  }

  pressed(event) {
    if (event.pointerType === "mouse" && event.button === 0) {
      this.pressedAt = event.clientX - this.plot.getBoundingClientRect().left;
    }
  }

  released() {
    const drag = this.drag;
    this.drag = undefined;
    this.pressedAt = undefined;
    if (!drag) return;
    const [from, to] = drag.map((x) => this.stepAt(x)).sort((one, other) => one - other);
    show([Math.max(0, from), Math.max(Math.min(to, store.lastStep), from + 1)]);
  }

  keyed(event) {
    const curve = this.drawn?.[0]?.curve;
    if (!curve || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = curve.step.length - 1;
    const now = view.cursor === null ? last : nearest(curve, view.cursor);
    const pace = event.shiftKey ? 10 : 1;
    const to = { ArrowLeft: now - pace, ArrowRight: now + pace, ArrowDown: now - pace, ArrowUp: now + pace };
    Object.assign(to, { PageDown: now - 50, PageUp: now + 50, Home: 0, End: last });
    if (event.key === "Escape") {
      this.left();
      show(null);
    } else if (event.key in to) {
      const index = Math.min(Math.max(to[event.key], 0), last);
      const value = curve.mean[index];
      this.near = { ...this.drawn[0], index, at: Number.isFinite(value) ? this.y(value) : MARGIN.top };
      readOff(curve.step[index]);
      this.showTip();
    } else return;
    event.preventDefault();
  }
}
