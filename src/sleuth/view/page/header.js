// What run this is and how it goes; which run, which rank and which theme to show.
const THEMES = { auto: "Automatic", light: "Light", dark: "Dark" };
const MAGNIFIER = "M11.5 7a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0ZM10.3 10.3 14 14";
const DISC = "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Z";
const HALF_DISC = "M8 2a6 6 0 0 1 0 12Z";
const header = { program: element("h1"), state: element("span"), facts: new Map(), rank: null, runs: null };
// A page out of a file shows the time as it was; a live one counts on.
let live = false;

function fact(name) {
  const value = element("dd");
  header.facts.set(name, value);
  return element("div", {}, element("dt", {}, name), value);
}

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
let chosenTheme = "auto";

function applyTheme() {
  const dark = chosenTheme === "auto" ? prefersDark.matches : chosenTheme === "dark";
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  theme = null;
  redraw();
}

function themeButton() {
  const names = Object.keys(THEMES);
  const button = element("button", { type: "button", class: "quiet icon" }, icon(DISC, HALF_DISC));
  const choose = (name) => {
    chosenTheme = name;
    applyTheme();
    button.title = `Theme: ${THEMES[name].toLowerCase()}`;
    button.setAttribute("aria-label", button.title);
  };
  const remembered = remember("theme");
  choose(names.includes(remembered) ? remembered : "auto");
  button.addEventListener("click", () => {
    choose(names[(names.indexOf(chosenTheme) + 1) % names.length]);
    remember("theme", chosenTheme);
  });
  prefersDark.addEventListener("change", applyTheme);
  return button;
}

function rankPicker() {
  const select = element("select", { "aria-label": "Which rank to show", hidden: true });
  select.addEventListener("change", () => {
    view.rank = select.value === "all" ? "all" : Number(select.value);
    redraw();
  });
  header.rank = select;
  return select;
}

function runPicker() {
  const select = element("select", { class: "runs", "aria-label": "Which run to show", hidden: true });
  select.addEventListener("change", () => location.assign(`/?run=${encodeURIComponent(select.value)}`));
  header.runs = select;
  return select;
}

function runOption({ name, command, started, how }) {
  const day = Number.isFinite(started) ? new Date(started * 1000).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }) : name;
  return element("option", { value: name }, [command, day, how].filter(Boolean).join(" · "));
}

async function listRuns(chosen) {
  try {
    const told = await (await fetch("runs", { cache: "no-store" })).json();
    header.runs.replaceChildren(...told.runs.map(runOption));
    header.runs.value = chosen ?? told.chosen;
    header.runs.hidden = told.runs.length < 2;
  } catch {
    // Without the list there is still the run.
  }
}

function buildHeader(parent) {
  header.state.className = "state";
  header.state.setAttribute("role", "status");
  parent.replaceChildren(
    element("span", { class: "brand" }, icon(MAGNIFIER), "Sleuth"),
    element("div", { class: "run" }, header.program, header.state),
    element("dl", { class: "facts" }, fact("steps"), fact("time"), fact("steps/s"), fact("loss"), fact("learning rate")),
    element("div", { class: "controls" }, runPicker(), rankPicker(), themeButton()),
  );
}

function showRanks(ranks) {
  header.rank.hidden = ranks.length < 2;
  if (header.rank.options.length === ranks.length + 1) return;
  header.rank.replaceChildren(
    element("option", { value: "all" }, "all ranks"),
    ...ranks.map((rank) => element("option", { value: rank }, `rank ${rank}`)),
  );
  header.rank.value = String(view.rank);
}

function elapsed(run) {
  const running = live && run.state.name === "running" && run.started;
  return running ? Math.max(run.seconds, Date.now() / 1000 - run.started) : run.seconds;
}

function showTime() {
  if (store.run) setText(header.facts.get("time"), duration(elapsed(store.run)));
}

function showHeader() {
  const { run } = store;
  const { state } = run;
  setText(header.program, run.program);
  header.program.title = [run.program, ...run.arguments].join(" ");
  document.title = `${run.program} · Sleuth`;
  header.state.className = `state ${state.name}${state.good ? " good" : ""}${live ? " live" : ""}`;
  setText(header.state, state.quiet ? `${state.says}, no news for ${duration(state.quiet)}` : state.says);
  setText(header.facts.get("steps"), steps(run.steps));
  setText(header.facts.get("steps/s"), run.pace === null ? "–" : plain(Number(run.pace.toPrecision(3))));
  const losses = [...store.curves.values()].filter((curve) => curve.name === "loss");
  setText(header.facts.get("loss"), losses.length ? plain(lastValue(losses[0])) : "–");
  const rates = [...store.curves.values()].filter((curve) => curve.name === "learning rate");
  setText(header.facts.get("learning rate"), rates.length ? plain(lastValue(rates[0])) : "–");
  showRanks(run.ranks);
  showTime();
}
