// Starts the page, and does what the rater asks for.
const noticeBox = document.getElementById("notice");

function notify(words) {
  setText(noticeBox, words);
  noticeBox.hidden = !words;
}

function inform(words) {
  setText(lastSaid, words);
  lastSaid.className = "last waits";
  last.key = null;
}

function show() {
  showReading();
  showCodebook();
  showHeader();
}

function goTo(key) {
  closeNote(true);
  work.current = key;
  work.finished = false;
  work.pendingSecond = null;
  if (within !== null) narrow(null);
  show();
}

function move(step) {
  if (work.finished && step < 0) return goTo(work.current);
  const found = neighbour(work.current, step, isShown);
  return found === null ? inform(step > 0 ? "This is the last post." : "This is the first post.") : goTo(found);
}

function goOn() {
  const found = nextUnlabelled(work.current);
  if (found !== null) return goTo(found);
  if (!allLabelled()) return inform("No other post here is without a label.");
  work.finished = true;
  if (within !== null) narrow(null);
  return show();
}

// After a choice: on to what is left to do, or, among the doubtful and in a search, to the next one of those.
function advance() {
  const key = work.current;
  const revisits = work.filter === "doubtful" || work.search || allLabelled();
  const next = nextUnlabelled(key) ?? (revisits ? neighbour(key, 1, isShown) : null);
  if (next !== null) goTo(next);
  else if (allLabelled()) goOn();
  else show();
}

function say(labels, second) {
  const key = work.current;
  const { labels: before, second: secondBefore } = markOf(key);
  work.undo.push({ key, labels: before, second: secondBefore });
  work.pendingSecond = null;
  last.key = key;
  keep("label", key, { labels, second });
}

function choose(name) {
  const mark = markOf(work.current);
  const second = mark.second ?? work.pendingSecond;
  say([name], second === name ? null : second);
  advance();
}

function chooseSecond(name) {
  const mark = markOf(work.current);
  if (!mark.labels.length) work.pendingSecond = work.pendingSecond === name ? null : name;
  else if (mark.labels[0] === name) inform("This is the first choice already.");
  else say(mark.labels, mark.second === name ? null : name);
  if (within !== null) narrow(null);
  show();
}

function toggle(name) {
  const { labels } = markOf(work.current);
  const wanted = labels.includes(name) ? labels.filter((label) => label !== name) : [...labels, name];
  say(work.data.codebook.labels.map((label) => label.name).filter((label) => wanted.includes(label)), null);
  show();
}

function undo() {
  const step = work.undo.pop();
  if (!step) return inform("There is nothing to take back.");
  goTo(step.key);
  last.key = step.key;
  keep("label", step.key, { labels: step.labels, second: step.second });
  return show();
}

function back() {
  if (within !== null) narrow(work.labels.get(within).within);
  else if (work.search) setSearch("");
  else if (work.pendingSecond) {
    work.pendingSecond = null;
    show();
  }
}

function stayAmongShown() {
  if (!isShown(post())) {
    const found = neighbour(work.current, 1, isShown) ?? neighbour(work.current, -1, isShown);
    if (found !== null) {
      // The search field keeps the focus while somebody types into it.
      const typing = document.activeElement === header.search;
      goTo(found);
      if (typing) header.search.focus();
      return;
    }
  }
  show();
}

async function start() {
  const answer = await fetch("work", { cache: "no-store" });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  const data = await answer.json();
  work.data = data;
  startSending();
  begin(data);
  document.title = `${data.codebook.title} · ${data.rater}`;
  // The address with the token in it need not stay where others can read it.
  history.replaceState(null, "", "/");
  buildHeader(document.getElementById("header"));
  buildReading();
  buildCodebook();
  document.addEventListener("keydown", onKey);
  show();
  document.documentElement.dataset.drawn = "";
  void follow();
}

start().catch((problem) => notify(`The posts could not be fetched: ${problem.message}`));
