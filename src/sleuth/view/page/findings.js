// The findings: surest first, one of them open, its step marked in every chart.
const GROUPS = [
  ["certain", "Certain"],
  ["likely", "Likely"],
  ["hint", "Hints"],
];

function findingKey(finding) {
  return JSON.stringify([finding.diagnosis, finding.title, finding.where]);
}

function select(finding) {
  view.selected = finding;
  const [from, to] = view.range ?? [0, Infinity];
  if (finding && finding.step !== null && (finding.step < from || finding.step > to)) show(null);
  for (const card of document.querySelectorAll(".finding")) {
    const open = finding !== null && card.dataset.key === findingKey(finding);
    card.classList.toggle("open", open);
    card.querySelector("button.title").setAttribute("aria-expanded", String(open));
    card.querySelector(".story").hidden = !open;
  }
  redraw();
}

function when(finding) {
  const words = [];
  if (finding.step !== null) words.push(`step ${steps(finding.step)}`);
  if (finding.ranks.length) words.push(`rank${finding.ranks.length > 1 ? "s" : ""} ${finding.ranks.join(", ")}`);
  return words.join(", ");
}

function source(rows) {
  if (!rows.length) return null;
  const lines = rows.map((row) => {
    const line = element("div", { class: row.mark || row.inside ? "row meant" : "row" });
    line.append(element("span", { class: "number" }, row.number === null ? "…" : String(row.number)));
    const [from, to] = row.mark ?? [0, 0];
    const text = row.mark
      ? [row.text.slice(0, from), element("mark", {}, row.text.slice(from, to)), row.text.slice(to)]
      : [row.text];
    line.append(element("code", {}, ...text));
    return line;
  });
  return element("div", { class: "source", tabindex: 0, role: "group", "aria-label": "Source" }, lines);
}

function evidence(items) {
  if (!items.length) return null;
  const facts = items.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  return element("div", {}, element("h4", {}, "Evidence"), element("dl", {}, facts));
}

function chain(links) {
  if (!links.length) return null;
  const told = links.map((link) =>
    element(
      "li",
      {},
      link.where && element("div", { class: "cited" }, element("b", {}, link.where), " ", link.code && element("code", {}, link.code)),
      element("div", {}, link.what),
    ),
  );
  return element("div", {}, element("h4", {}, "How it came about"), element("ol", { class: "chain" }, told));
}

function diff(lines) {
  if (!lines.length) return null;
  const kinds = { "+": "added", "-": "removed", "@": "hunk" };
  const shown = lines.map((line) => {
    const heads = line.startsWith("+++") || line.startsWith("---");
    return element("div", { class: heads ? "hunk" : (kinds[line.charAt(0)] ?? "") }, line || " ");
  });
  return element("div", { class: "diff", tabindex: 0, role: "group", "aria-label": "Change" }, shown);
}

function fixes(items) {
  if (!items.length) return null;
  const told = items.map((fix) =>
    element("li", {}, fix.title, element("span", { class: fix.verified ? "verified" : "untried" }, fix.tried), diff(fix.diff)),
  );
  return element("div", {}, element("h4", {}, "What to change"), element("ul", { class: "fixes" }, told));
}

function closer(finding) {
  if (finding.step === null) return null;
  const button = element("button", { type: "button", class: "quiet" }, `Look closer at step ${steps(finding.step)}`);
  button.addEventListener("click", () => {
    const reach = Math.max(20, Math.round(store.lastStep / 20));
    show([Math.max(0, finding.step - reach), Math.max(Math.min(store.lastStep, finding.step + reach), 1)]);
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    document.getElementById("curves").scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
  });
  return button;
}

function card(finding, index) {
  const id = `story-${index}`;
  const title = element(
    "button",
    { type: "button", class: "title", "aria-expanded": "false", "aria-controls": id },
    element("span", { class: `severity ${finding.severity}` }, finding.severity),
    element("span", { class: "words" }, finding.title),
    element("span", { class: "place" }, [finding.where, when(finding)].filter(Boolean).join(" · ")),
  );
  const story = element(
    "div",
    { class: "story", id, hidden: true },
    element("div", { class: "beside" }, source(finding.source), fixes(finding.fixes)),
    element("div", { class: "beside" }, chain(finding.chain), evidence(finding.evidence)),
    element(
      "p",
      { class: "more" },
      closer(finding),
      element("code", {}, `sleuth explain ${finding.diagnosis}`),
      // The step was kept in a file and can be run again.
      store.bundles.filter((bundle) => bundle.step === finding.step).map((bundle) => element("code", {}, bundle.command)),
    ),
  );
  const made = element("article", { class: `finding ${finding.severity}` }, element("h3", {}, title), story);
  made.dataset.key = findingKey(finding);
  title.addEventListener("click", () => select(view.selected === finding ? null : finding));
  return made;
}

function expectations() {
  if (!store.expectations.length) return null;
  const said = store.expectations.map((one) =>
    element("li", {}, one.says, one.where && element("span", { class: "place" }, one.where)),
  );
  return [element("h2", {}, "What you expect"), element("ul", { class: "expectations" }, said)];
}

// The first heading says how many there are in all: the open story may have pushed the others out of sight.
function tally(before, group) {
  const all = store.findings.length;
  if (before.length || all === group.length) return all > 1 ? String(group.length) : "";
  return `${group.length} of ${all} findings`;
}

function showFindings(parent) {
  const focused = document.activeElement?.closest?.(".finding")?.dataset.key;
  const before = view.selected === null ? null : findingKey(view.selected);
  const parts = [];
  for (const [certainty, heading] of GROUPS) {
    const group = store.findings.filter((finding) => finding.certainty === certainty);
    if (!group.length) continue;
    parts.push(element("h2", {}, heading, element("span", { class: "tally" }, tally(parts, group))), ...group.map((finding) => card(finding, store.findings.indexOf(finding))));
  }
  if (!parts.length) {
    const so = store.run.state.name === "running" ? "Nothing found so far." : "Nothing found.";
    parts.push(element("h2", {}, "Findings"), element("p", { class: "nothing" }, so));
  }
  parent.replaceChildren(...parts, ...(expectations() ?? []));
  const surest = GROUPS.flatMap(([certainty]) => store.findings.filter((finding) => finding.certainty === certainty));
  select(store.findings.find((finding) => findingKey(finding) === before) ?? surest[0] ?? null);
  if (focused) [...parent.querySelectorAll(".finding")].find((one) => one.dataset.key === focused)?.querySelector("button").focus();
}
