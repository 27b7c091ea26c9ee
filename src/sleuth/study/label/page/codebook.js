// The codebook beside the post: its question, its labels to choose from, its rules.
const codebook = document.getElementById("codebook");
const choices = element("div", { class: "choices", role: "group" });
const trail = element("nav", { class: "trail", "aria-label": "Within", hidden: true });
let within = null;

function labelButton(label) {
  const parts = hasParts(label.name);
  const words = element("span", { class: "words" }, element("b", {}, label.title, parts ? " ›" : ""));
  const badge = element("span", { class: "badge" });
  const button = element(
    "button",
    {
      type: "button",
      class: "label",
      "data-name": label.name,
      "aria-pressed": "false",
      "aria-keyshortcuts": label.key,
      onclick: (event) => press(label, event.shiftKey),
      // The right button, or a long touch: what Shift is on a keyboard.
      oncontextmenu: (event) => {
        event.preventDefault();
        press(label, true);
      },
    },
    element("kbd", {}, label.key),
    words,
    badge,
  );
  const list = (name, lines) => lines.length > 0 && element("ul", { class: name }, lines.map((line) => element("li", {}, line)));
  const more = [element("p", { class: "definition" }, label.definition), list("examples", label.examples), list("fixes", label.fixes)];
  return element("div", { class: "choice" }, button, more);
}

function narrow(name) {
  within = name;
  buildChoices();
  showCodebook();
}

function buildChoices() {
  choices.replaceChildren(...partsOf(within).map(labelButton));
  choices.setAttribute("aria-label", within === null ? work.data.codebook.question : pathOf(within));
  trail.hidden = within === null;
  if (within !== null) {
    trail.replaceChildren(
      element("button", { type: "button", onclick: () => narrow(work.labels.get(within).within) }, element("kbd", {}, "Esc"), " back"),
      element("span", {}, pathOf(within)),
    );
  }
}

const liesIn = (name, whole) => {
  for (let label = work.labels.get(name); label; label = work.labels.get(label.within)) if (label.name === whole) return true;
  return false;
};

function showCodebook() {
  const mark = isFinished() ? NOTHING : markOf(work.current);
  const second = mark.second ?? work.pendingSecond;
  for (const button of choices.querySelectorAll("button.label")) {
    const { name } = button.dataset;
    const chosen = mark.labels.some((label) => liesIn(label, name));
    const isSecond = second !== null && liesIn(second, name);
    button.setAttribute("aria-pressed", String(chosen));
    button.classList.toggle("second", isSecond);
    button.classList.toggle("waits", chosen && mark.waits);
    setText(button.querySelector(".badge"), chosen ? (mark.waits ? "…" : "✓") : isSecond ? "2nd" : "");
  }
}

function press(label, asSecond) {
  if (isFinished()) return;
  if (hasParts(label.name)) narrow(label.name);
  else if (choosesMany()) toggle(label.name);
  else if (asSecond) chooseSecond(label.name);
  else choose(label.name);
}

// What is said about the labels, shown or not as the rater likes; on a phone there is room for little.
function wordsButton(name, words, from) {
  const button = element("button", { type: "button", class: "quiet" }, words);
  const set = (on) => {
    codebook.classList.toggle(name, on);
    button.setAttribute("aria-pressed", String(on));
  };
  button.addEventListener("click", () => {
    set(!codebook.classList.contains(name));
    remember(`label.${name}`, codebook.classList.contains(name) ? "yes" : "no");
  });
  const remembered = remember(`label.${name}`);
  set(remembered ? remembered === "yes" : matchMedia(from).matches);
  return button;
}

function buildCodebook() {
  const { question, title, rules, source, labels } = work.data.codebook;
  const hasExamples = labels.some((label) => label.examples.length || label.fixes.length);
  codebook.append(
    element("h2", {}, question),
    element(
      "div",
      { class: "switches", role: "group", "aria-label": "What to show of the codebook" },
      wordsButton("with-definitions", "Definitions", "(min-width: 821px)"),
      hasExamples && wordsButton("with-examples", "Examples", "(min-width: 821px) and (min-height: 1300px)"),
      rules.length > 0 && wordsButton("with-rules", "Rules", "not all"),
    ),
    element("ol", { class: "rules", "aria-label": "Rules" }, rules.map((rule) => element("li", {}, rule))),
    trail,
    choices,
    element("p", { class: "source" }, source ? `${title}. ${source}` : title),
  );
  buildChoices();
}
