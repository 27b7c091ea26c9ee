// Whose work this is, how far it has come, and which posts are shown.
const THEMES = { auto: "Automatic", light: "Light", dark: "Dark" };
const FILTERS = { all: "all posts", unlabelled: "unlabelled only", doubtful: "doubtful only" };
const MAGNIFIER = "M11.5 7a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0ZM10.3 10.3 14 14";
const DISC = "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Z";
const HALF_DISC = "M8 2a6 6 0 0 1 0 12Z";
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const header = {
  count: element("span", { class: "count" }),
  left: element("span", { class: "left" }),
  bar: element("progress", { "aria-label": "How much is labelled" }),
  filter: element("select", { "aria-label": "Which posts to show" }),
  search: element("input", { type: "search", placeholder: "Search", "aria-label": "Search the posts" }),
  found: element("span", { class: "found", role: "status" }),
};

function duration(seconds) {
  const minutes = Math.max(1, Math.round(seconds / 60));
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function showHeader() {
  const total = work.posts.length;
  const done = work.posts.filter((candidate) => isLabelled(candidate.key)).length;
  header.bar.max = total;
  header.bar.value = done;
  setText(header.count, `${done} of ${total}`);
  const left = total - done;
  setText(header.left, left === 0 ? "all done" : work.secondsEach ? `about ${duration(work.secondsEach * left)} left` : "");
  const narrowed = work.search || work.filter !== "all";
  setText(header.found, narrowed ? `${work.posts.filter(isShown).length} shown` : "");
}

function applyTheme(name) {
  const dark = name === "auto" ? prefersDark.matches : name === "dark";
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

function themeButton() {
  const names = Object.keys(THEMES);
  let chosen = names.includes(remember("theme")) ? remember("theme") : "auto";
  const button = element("button", { type: "button", class: "quiet icon" }, icon(DISC, HALF_DISC));
  const apply = () => {
    applyTheme(chosen);
    button.title = `Theme: ${THEMES[chosen].toLowerCase()}`;
    button.setAttribute("aria-label", button.title);
  };
  button.addEventListener("click", () => {
    chosen = names[(names.indexOf(chosen) + 1) % names.length];
    remember("theme", chosen);
    apply();
  });
  prefersDark.addEventListener("change", apply);
  apply();
  return button;
}

function setFilter(name) {
  work.filter = name;
  header.filter.value = name;
  stayAmongShown();
}

function nextFilter() {
  const names = Object.keys(FILTERS);
  setFilter(names[(names.indexOf(work.filter) + 1) % names.length]);
}

function setSearch(text) {
  work.search = text.trim().toLowerCase();
  if (header.search.value !== text) header.search.value = text;
  stayAmongShown();
}

function buildHeader(parent) {
  const { codebook: book, rater, round } = work.data;
  header.filter.append(...Object.entries(FILTERS).map(([name, words]) => element("option", { value: name }, words)));
  header.filter.addEventListener("change", () => {
    setFilter(header.filter.value);
    header.filter.blur();
  });
  header.search.addEventListener("input", () => setSearch(header.search.value));
  header.search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") setSearch("");
    if (event.key === "Escape" || event.key === "Enter") header.search.blur();
    event.stopPropagation();
  });
  parent.append(
    element("span", { class: "brand" }, icon(MAGNIFIER), "Sleuth"),
    element("div", { class: "whose" }, element("b", {}, book.title), element("span", {}, `${rater} · round ${round}`)),
    element("div", { class: "progress" }, header.count, header.bar, header.left),
    element(
      "div",
      { class: "controls" },
      header.found,
      header.filter,
      header.search,
      element("button", { type: "button", class: "quiet icon", title: "Keys (F1)", "aria-label": "Keys", onclick: toggleHelp }, "?"),
      themeButton(),
    ),
  );
}
