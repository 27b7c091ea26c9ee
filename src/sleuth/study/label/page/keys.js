// What the keys do. A codebook's own keys come first; a command whose letter is taken keeps its other key.
const COMMANDS = [
  { keys: ["ArrowRight", "j"], name: "the next post", act: () => move(1) },
  { keys: ["ArrowLeft", "k"], name: "the post before", act: () => move(-1) },
  { keys: ["Enter"], name: "the next post without a label", act: () => goOn() },
  { keys: ["Backspace", "Ctrl+z", "u"], name: "take back the last choice", act: () => undo() },
  { keys: ["F2", "n"], name: "write a note (Enter keeps it, Esc drops it)", act: () => openNote() },
  { keys: ["f"], name: "all, only unlabelled, only doubtful", act: () => nextFilter() },
  { keys: ["/"], name: "search", act: () => header.search.focus() },
  { keys: ["Escape"], name: "back: out of a group of labels, a search", act: () => back() },
  { keys: ["F1", "?"], name: "this list", act: () => toggleHelp() },
];
const NAMES = { ArrowRight: "→", ArrowLeft: "←", Backspace: "⌫", Escape: "Esc", "Ctrl+z": "Ctrl Z" };
const help = document.getElementById("help");

const isTaken = (key) => work.data.codebook.labels.some((label) => label.key.toLowerCase() === key.toLowerCase());
const freeKeys = (command) => command.keys.filter((key) => key.length > 1 || !isTaken(key));

// With another keyboard layout, or with Shift and a digit, the place of the key tells which was meant.
function meant(event) {
  const side = partsOf(within);
  const of = (key) => side.find((label) => label.key.toLowerCase() === key?.toLowerCase());
  const exact = side.find((label) => label.key === event.key);
  // A capital or a sign that is a label's own key needs Shift, and is no second choice.
  if (exact) return { label: exact, second: event.shiftKey && /^[a-z]$/.test(exact.key) };
  const byPlace = isCommand(event) ? undefined : /^(?:Key|Digit|Numpad)(.)$/.exec(event.code)?.[1];
  const label = of(event.key) ?? of(byPlace);
  return label ? { label, second: event.shiftKey } : null;
}

function isCommand(event) {
  return COMMANDS.some((command) => freeKeys(command).includes(event.key));
}

function onKey(event) {
  if (help.open) return onKeyInHelp(event);
  if (event.altKey || event.metaKey || event.isComposing) return undefined;
  const field = event.target.closest?.("input, textarea, select");
  if (field) return undefined;
  // Enter and Space work the button that has the focus.
  if (event.key === "Enter" && event.target.closest?.("button, a")) return undefined;
  const pressed = event.ctrlKey ? `Ctrl+${event.key.toLowerCase()}` : event.key;
  const found = event.ctrlKey ? null : meant(event);
  if (found) {
    event.preventDefault();
    // A key held down would label post after post.
    if (!event.repeat) press(found.label, found.second);
    return undefined;
  }
  const command = COMMANDS.find((candidate) => freeKeys(candidate).includes(pressed));
  if (!command) return undefined;
  event.preventDefault();
  return command.act();
}

function onKeyInHelp(event) {
  if (event.key !== "?" && event.key !== "F1") return;
  event.preventDefault();
  help.close();
}

function keyRow(keys, words) {
  return element("div", {}, element("dt", {}, keys.map((key) => element("kbd", {}, NAMES[key] ?? key))), element("dd", {}, words));
}

function toggleHelp() {
  help.replaceChildren(
    element("h2", {}, "Keys"),
    element(
      "dl",
      {},
      keyRow(["a key of the codebook"], choosesMany() ? "choose or drop this label" : "choose this label, go on to the next post"),
      !choosesMany() && keyRow(["Shift", "its key"], "second choice, before the first or after it; also the right mouse button, or a long touch"),
      COMMANDS.filter((command) => freeKeys(command).length).map((command) => keyRow(freeKeys(command), command.name)),
    ),
    element("p", {}, "A label is shown as saved once it is on disk. Stop whenever you like; the same command goes on from there."),
    element("form", { method: "dialog" }, element("button", {}, "Close")),
  );
  help.showModal();
}
