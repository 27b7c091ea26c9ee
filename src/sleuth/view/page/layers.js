// A chart of one quantity by layer. Hundreds of layers are one grey crowd; those that matter stand out and have a name.
const CHOICES = [4, 8, 16];
const MOST_NAMED = 64;

class LayersChart extends Chart {
  constructor({ title, format, curves }) {
    super({ title, format, wide: true, lines: () => this.chosenLines() });
    this.curves = curves;
    this.pinned = new Set();
    this.given = new Map();
    this.hovered = null;
    this.rows = new Map();
    this.filter = element("input", { type: "search", placeholder: "Filter layers", spellcheck: "false", autocomplete: "off" });
    this.filter.setAttribute("aria-label", `Filter the layers of ${title}`);
    this.filter.addEventListener("input", () => this.draw());
    this.order = this.select(`Which layers of ${title} to name`, [
      ["high", "highest last"],
      ["low", "lowest last"],
    ]);
    this.most = this.select(`How many layers of ${title} to name`, [
      ...CHOICES.map((count) => [count, `${count} layers`]),
      [MOST_NAMED, "as many as fit"],
    ]);
    this.most.value = "8";
    this.tally = element("p", { class: "tally" });
    this.legend.className = "layers";
    this.side = element(
      "div",
      { class: "side" },
      element("div", { class: "tools" }, this.filter, this.order, this.most),
      this.legend,
      this.tally,
    );
    this.heading.replaceChildren(this.heading.firstChild, this.logSwitch);
    this.body = element("div", { class: "split" });
    this.plot.replaceWith(this.body);
    this.body.append(this.plot, this.side);
  }

  select(label, choices) {
    const made = element("select", { "aria-label": label });
    for (const [value, words] of choices) made.append(element("option", { value }, words));
    made.addEventListener("change", () => this.draw());
    return made;
  }

  chosenLines() {
    const wanted = this.filter.value.trim().toLowerCase();
    const all = this.curves();
    const fitting = wanted ? all.filter((line) => line.label.toLowerCase().includes(wanted)) : all;
    // What is not finite is looked for first, whichever end is asked for.
    const sign = this.order.value === "low" ? -1 : 1;
    const rank = ({ curve }) => (Number.isFinite(lastValue(curve)) ? sign * lastValue(curve) : Infinity);
    const ordered = fitting.map((line) => [rank(line), line]).sort((one, other) => (one[0] < other[0] ? 1 : -1));
    const named = [];
    const crowd = [];
    ordered.forEach(([, line], index) => {
      const chosen = index < Number(this.most.value) || this.pinned.has(line.curve.key);
      (chosen ? named : crowd).push(line);
    });
    this.colour(named);
    this.total = all.length;
    this.fitting = fitting.length;
    return [
      ...named.map((line) => ({ ...line, colour: this.given.get(line.curve.key), strong: line.curve.key === this.hovered })),
      ...crowd.map((line) => ({ ...line, faint: true })),
    ];
  }

  // A layer keeps its colour for as long as it is named, however the order changes.
  colour(named) {
    const keys = new Set(named.map((line) => line.curve.key));
    for (const key of this.given.keys()) if (!keys.has(key)) this.given.delete(key);
    const taken = new Set(this.given.values());
    let next = 0;
    for (const key of keys) {
      if (this.given.has(key)) continue;
      while (taken.has(next)) next += 1;
      taken.add(next);
      this.given.set(key, next);
    }
  }

  showLegend() {
    const named = this.drawn.filter((line) => !line.faint);
    const keys = named.map((line) => `${line.curve.key} ${line.colour}`).join("\n");
    if (this.legendKeys !== keys) {
      this.legendKeys = keys;
      this.rows = new Map(named.map((line) => [line.curve.key, this.row(line)]));
      this.legend.replaceChildren(...[...this.rows.values()].map((row) => row.item));
    }
    for (const [key, row] of this.rows) row.button.setAttribute("aria-pressed", String(this.pinned.has(key)));
    const some = this.fitting === this.total ? `${this.total} layers` : `${this.fitting} of ${this.total} layers fit the filter`;
    setText(this.tally, named.length < this.fitting ? `${named.length} named, ${some}` : some);
    this.showValues();
  }

  row(line) {
    const { key } = line.curve;
    const cut = line.label.lastIndexOf(".", line.label.lastIndexOf(".") - 1) + 1;
    const value = element("data");
    const button = element(
      "button",
      { type: "button", title: `${line.label}: keep it named`, "aria-pressed": "false" },
      element("i", { class: `swatch series-${line.colour % COLOURS}${line.colour >= COLOURS ? " dashed" : ""}` }),
      // Names differ at their ends, so a long one loses its beginning.
      element("span", { class: "path" }, element("bdi", { dir: "ltr" }, line.label.slice(0, cut), element("b", {}, line.label.slice(cut)))),
      value,
    );
    button.addEventListener("click", () => {
      if (!this.pinned.delete(key)) this.pinned.add(key);
      this.draw();
    });
    const hover = (on) => () => {
      this.hovered = on ? key : null;
      this.draw();
    };
    button.addEventListener("pointerenter", hover(true));
    button.addEventListener("pointerleave", hover(false));
    button.addEventListener("focus", hover(true));
    button.addEventListener("blur", hover(false));
    return { item: element("li", {}, button), button, value };
  }

  showValues() {
    for (const line of this.drawn) {
      const row = this.rows.get(line.curve.key);
      if (row) setText(row.value, this.reading(line.curve));
    }
    this.plot.setAttribute("aria-valuemax", store.lastStep);
    this.plot.setAttribute("aria-valuenow", Math.round(view.cursor ?? store.lastStep));
    this.plot.setAttribute("aria-valuetext", this.sentence());
  }
}
