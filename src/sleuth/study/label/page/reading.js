// The post on the page: its title, tags, text and code, what has been said of it, and the rater's note.
// Of a long block: a program says what it does at its start, a traceback what went wrong at its end.
const FIRST_LINES = 40;
const LAST_LINES = 20;
const LONG = 80;
const reading = document.getElementById("reading");
const shownNow = { key: null, finished: null };
const last = { key: null };
const note = element("textarea", { rows: 2, "aria-label": "A note on this post", placeholder: "A note, for the discussion" });
const noteBox = element("div", { class: "note", hidden: true }, note);
const said = element("p", { class: "said" });
const lastSaid = element("p", { class: "last", role: "status" });
const place = element("span", { class: "place" });

function paragraphs(text) {
  return text
    .split(/\n\s*\n/)
    .filter((part) => part.trim())
    .map((part) => element("p", {}, part.replace(/^\n+|\s+$/g, "")));
}

function codeBlock(code, number, count) {
  const lines = code.split("\n");
  const name = count > 1 ? `Code ${number + 1} of ${count}` : "Code";
  const block = element("pre", { tabindex: 0, "aria-label": name }, element("code", {}, code));
  const figure = element("figure", {}, element("figcaption", {}, name), block);
  if (lines.length <= LONG) return figure;
  const hidden = `⋯ ${lines.length - FIRST_LINES - LAST_LINES} lines left out ⋯`;
  block.firstChild.textContent = [...lines.slice(0, FIRST_LINES), "", hidden, "", ...lines.slice(-LAST_LINES)].join("\n");
  const more = element("button", { type: "button" }, `Show all ${lines.length} lines`);
  more.addEventListener("click", () => {
    block.firstChild.textContent = code;
    more.remove();
  });
  figure.append(more);
  return figure;
}

function article(shown) {
  const parts = [...paragraphs(shown.text), ...shown.code.map((code, number) => codeBlock(code, number, shown.code.length))];
  return element(
    "article",
    {},
    element("h1", { tabindex: -1 }, shown.title || "(no title)"),
    shown.tags.length > 0 && element("ul", { class: "tags", "aria-label": "Tags" }, shown.tags.map((tag) => element("li", {}, tag))),
    parts.length ? parts : element("p", { class: "empty" }, "This post has a title only."),
    element("p", { class: "key" }, shown.key),
  );
}

function finish() {
  const doubts = work.posts.filter((candidate) => isDoubtful(markOf(candidate.key))).length;
  const waits = allWaiting().length;
  return element(
    "article",
    { class: "finish" },
    element("h1", { tabindex: -1 }, `All ${work.posts.length} posts are labelled`),
    element("p", {}, waits ? `${waits} of your choices still wait to be saved: leave this page open.` : "Everything is saved. You can close this page, and end the server with Ctrl-C."),
    doubts > 0 && element("p", {}, `${doubts === 1 ? "One has" : `${doubts} have`} a second choice or a note; the filter “doubtful only” shows what has.`),
  );
}

// A post is built once, not at every answer of the server: the rater may have marked a word or opened a block.
function showPost() {
  const finished = isFinished();
  if (shownNow.key === work.current && shownNow.finished === finished && !finished) return;
  const moved = shownNow.key !== work.current || shownNow.finished !== finished;
  Object.assign(shownNow, { key: work.current, finished });
  const shown = finished ? finish() : article(post());
  const old = reading.querySelector("article");
  if (old) old.replaceWith(shown);
  else reading.append(shown);
  if (moved) {
    noteBox.hidden = true;
    window.scrollTo(0, 0);
    reading.scrollTo(0, 0);
    shown.querySelector("h1").focus({ preventScroll: true });
  }
}

function showSaid() {
  const mark = markOf(work.current);
  const state = mark.waits ? "not saved yet" : "saved";
  said.className = `said ${mark.labels.length ? (mark.waits ? "waits" : "saved") : ""}`;
  const chosen = mark.labels.map((name) => pathOf(name)).join(", ");
  const parts = [];
  if (chosen) parts.push(element("b", {}, chosen), ` ${state}`);
  if (mark.second) parts.push(element("span", {}, `second choice: ${titleOf(mark.second)}`));
  if (!chosen && work.pendingSecond) parts.push(element("span", {}, `second choice: ${titleOf(work.pendingSecond)}. Now the first.`));
  if (!parts.length) parts.push(element("span", {}, "no label yet"));
  if (mark.note && noteBox.hidden) parts.push(element("q", {}, mark.note), mark.noteWaits ? " not saved yet" : "");
  said.replaceChildren(...parts);
  said.hidden = shownNow.finished;
}

function showLast() {
  if (!last.key) return;
  const mark = markOf(last.key);
  const about = work.posts[work.places.get(last.key)].title;
  const what = mark.labels.length ? mark.labels.map(titleOf).join(", ") : "taken back";
  setText(lastSaid, `${mark.waits ? "Not saved yet" : "Saved"}: ${what} · ${about}`);
  lastSaid.className = `last ${mark.waits ? "waits" : "saved"}`;
}

function showReading() {
  showPost();
  showSaid();
  showLast();
  const mark = markOf(work.current);
  if (document.activeElement !== note) note.value = mark.note;
  setText(place, `post ${work.places.get(work.current) + 1} of ${work.posts.length}`);
}

function openNote() {
  noteBox.hidden = false;
  note.value = markOf(work.current).note;
  note.focus();
  showSaid();
}

function closeNote(save) {
  if (noteBox.hidden) return;
  const key = work.current;
  const text = note.value.trim();
  noteBox.hidden = true;
  if (save && text !== markOf(key).note) keep("note", key, { note: text });
  reading.querySelector("h1")?.focus({ preventScroll: true });
  show();
}

function buildReading() {
  note.maxLength = work.data.longest_note;
  note.addEventListener("blur", () => closeNote(true));
  note.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") closeNote(false);
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      closeNote(true);
    }
  });
  const step = (words, name, act) => element("button", { type: "button", "aria-label": name, title: name, onclick: act }, words);
  reading.append(
    element(
      "nav",
      { "aria-label": "Posts" },
      step("←", "The post before (←)", () => move(-1)),
      place,
      step("→", "The next post (→)", () => move(1)),
      lastSaid,
      element("button", { type: "button", class: "quiet undo", onclick: undo, title: "Take back the last choice (Backspace)" }, "Undo"),
    ),
    element("div", { class: "standing" }, said, element("button", { type: "button", class: "quiet", onclick: openNote }, "Note")),
    noteBox,
  );
}
