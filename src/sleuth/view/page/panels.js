// Which charts there are: those the recorded names call for, in the order a person asks for them. What varies by layer
// is there for the asking, and unasked where a finding speaks of it.
const SINGLES = [
  { title: "Loss", names: { loss: "training", "evaluation loss": "evaluation" }, wide: true },
  { title: "Gradient norm", names: { "gradient norm": "gradient norm" } },
  { title: "Learning rate", names: { "learning rate": "learning rate" }, unlessConstant: true },
  { title: "Step time", names: { "step seconds": "step, median", "data seconds": "data, median" }, format: seconds, robust: true },
  { title: "Memory", names: { "memory bytes": "memory" }, format: bytes, fromZero: true },
];
const BY_LAYER = [
  { prefix: "gradient norm", title: "Gradient norm by layer", about: /gradient/ },
  { prefix: "update ratio", title: "Update ratio by layer", about: /update|learning-rate/ },
  { prefix: "weight norm", title: "Weight norm by layer", about: /weight|init/ },
  { prefix: "dead share", title: "Share of dead units by layer", format: percent, about: /dead/ },
  { prefix: "saturated share", title: "Share of saturated units by layer", format: percent, about: /saturat/ },
  { prefix: "tensor low", title: "Lowest value of your tensors" },
  { prefix: "tensor high", title: "Highest value of your tensors" },
];
const built = new Set();
const singles = element("div", { class: "grid" });
const layered = element("div", { class: "grid" });
const layeredHeading = element("h2", { hidden: true }, "By layer");
const offers = element("div", { class: "offers" });

function prefixOf(name) {
  const cut = name.indexOf("/");
  return cut < 0 ? null : name.slice(0, cut);
}

function ofRank() {
  return [...store.curves.values()].filter((curve) => view.rank === "all" || curve.rank === view.rank);
}

function labelled(curve, words) {
  return store.run.ranks.length > 1 && view.rank === "all" ? `${words} · rank ${curve.rank}` : words;
}

function singleLines(names) {
  const order = Object.keys(names);
  const curves = ofRank()
    .filter((curve) => Object.hasOwn(names, curve.name))
    .sort((one, other) => order.indexOf(one.name) - order.indexOf(other.name) || one.rank - other.rank);
  const alike = curves.length > 1 && curves.every((curve) => curve.name === curves[0].name);
  const label = (curve) => (alike ? `rank ${curve.rank}` : labelled(curve, names[curve.name]));
  return curves.map((curve, colour) => ({ curve, colour, label: label(curve) }));
}

function layerLines(prefix) {
  return ofRank()
    .filter((curve) => prefixOf(curve.name) === prefix)
    .map((curve) => ({ curve, label: labelled(curve, curve.name.slice(prefix.length + 1)) }));
}

function capital(words) {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// Other names than ours get a chart too: each its own, or one for all that share what stands before a slash.
function planned() {
  const names = new Set([...store.curves.values()].map((curve) => curve.name));
  const known = new Set(SINGLES.flatMap((plan) => Object.keys(plan.names)));
  const plans = SINGLES.filter((plan) => Object.keys(plan.names).some((name) => names.has(name)) && !isIdle(plan));
  const prefixes = new Set();
  for (const name of names) {
    const prefix = prefixOf(name);
    if (prefix !== null) prefixes.add(prefix);
    else if (!known.has(name)) plans.push({ title: capital(name), names: { [name]: name } });
  }
  const byLayer = BY_LAYER.filter((plan) => prefixes.delete(plan.prefix));
  for (const prefix of prefixes) byLayer.push({ prefix, title: capital(prefix) });
  return { plans, byLayer };
}

// A line that never moves is a number: the header has it.
function isIdle({ names, unlessConstant }) {
  return unlessConstant && [...store.curves.values()].every((curve) => !Object.hasOwn(names, curve.name) || isConstant(curve));
}

// Names of the user's own were asked for; of ours, those that a finding is about.
function isAskedFor({ about }) {
  return about === undefined || store.findings.some((finding) => about.test(finding.diagnosis));
}

function offer({ prefix, title, format, about }) {
  let chart = null;
  const button = element("button", { type: "button", class: "switch", "aria-pressed": "false" }, title);
  const toggle = (on) => {
    if (on && chart === null) {
      chart = new LayersChart({ title, format, curves: () => layerLines(prefix) });
      layered.append(chart.element);
    }
    if (chart !== null) chart.element.hidden = !on;
    button.setAttribute("aria-pressed", String(on));
    redraw();
  };
  button.addEventListener("click", () => toggle(button.getAttribute("aria-pressed") === "false"));
  offers.append(button);
  return { about, ask: () => chart === null && toggle(true) };
}

const offered = [];

function showPanels(parent) {
  const { plans, byLayer } = planned();
  for (const { title, names, ...about } of plans) {
    if (built.has(`single ${title}`)) continue;
    built.add(`single ${title}`);
    singles.append(new Chart({ title, ...about, lines: () => singleLines(names) }).element);
  }
  for (const plan of byLayer) {
    if (built.has(`layers ${plan.prefix}`)) continue;
    built.add(`layers ${plan.prefix}`);
    offered.push(offer(plan));
  }
  for (const one of offered) if (isAskedFor(one)) one.ask();
  layeredHeading.hidden = !byLayer.length;
  if (!singles.isConnected) {
    const hint = "Drag across a chart to look closer; the arrow keys read it off.";
    parent.replaceChildren(element("div", { class: "bar" }, element("h2", {}, "Curves"), element("p", { class: "hint" }, hint), zoomButton));
    parent.append(singles, layeredHeading, offers, layered);
  }
}

const zoomButton = element("button", { type: "button", class: "quiet", hidden: true }, "Show all steps");
zoomButton.addEventListener("click", () => show(null));
document.addEventListener("zoomed", () => {
  zoomButton.hidden = view.range === null;
});
