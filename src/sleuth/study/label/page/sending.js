// Sends what the rater says. The browser keeps it until the server has answered that it is on disk.
const PAUSE = 2000;
const PAUSE_WITHOUT_SERVER = 1000;
// A server that hangs is no better than none; what it may have saved after all is not saved twice.
const LONGEST_WAIT = 15000;
// What waits, by name. All tabs of this rater share it through the browser's storage, where that has room.
const shelf = { prefix: "", kept: new Map(), onlyHere: new Set() };
let sendingNow = false;
let trouble = "";

function storage() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

function readShelf() {
  const store = storage();
  for (const name of shelf.kept.keys()) if (!shelf.onlyHere.has(name)) shelf.kept.delete(name);
  for (let at = 0; store && at < store.length; at += 1) {
    const name = store.key(at);
    if (name.startsWith(shelf.prefix) && !shelf.onlyHere.has(name)) shelf.kept.set(name, store.getItem(name));
  }
}

const allWaiting = () => [...shelf.kept.keys()];
const newest = (name) => (shelf.onlyHere.has(name) ? shelf.kept.get(name) : storage()?.getItem(name)) ?? null;

function waiting(what, key) {
  if (!shelf.kept.size) return null;
  const kept = shelf.kept.get(`${shelf.prefix}${what}.${key}`);
  return kept ? JSON.parse(kept) : null;
}

function keep(what, key, said) {
  const name = `${shelf.prefix}${what}.${key}`;
  shelf.kept.set(name, JSON.stringify(said));
  try {
    storage().setItem(name, shelf.kept.get(name));
    shelf.onlyHere.delete(name);
  } catch {
    // A private window has no memory, a full one no room: then this page is all there is.
    shelf.onlyHere.add(name);
  }
  void send();
}

function letGo(name, sent) {
  // Unless the rater has said something else meanwhile, here or in another tab.
  if (newest(name) !== sent) return;
  if (!shelf.onlyHere.delete(name)) storage().removeItem(name);
  shelf.kept.delete(name);
}

async function submit(path, body) {
  const headers = { "Content-Type": "application/json" };
  return fetch(path, { method: "POST", headers, body: JSON.stringify(body), signal: AbortSignal.timeout(LONGEST_WAIT) });
}

async function sendOne(name) {
  const sent = newest(name);
  if (sent === null) return shelf.kept.delete(name);
  const [what] = name.slice(shelf.prefix.length).split(".", 1);
  const key = name.slice(shelf.prefix.length + what.length + 1);
  const answer = await submit(what, { session: work.data.session, key, ...JSON.parse(sent) });
  if (answer.ok) {
    const { mark } = await answer.json();
    work.marks.set(key, mark);
    letGo(name, sent);
    return true;
  }
  const words = (await answer.text()).trim();
  if (answer.status === 400) {
    letGo(name, sent);
    inform(`Not taken: ${words}`);
    return true;
  }
  setTrouble(answer.status === 403 ? "anew" : answer.status === 409 ? "other" : "disk", words);
  return false;
}

// One tab at a time, so that of two choices for one post the later one stays.
async function send() {
  if (sendingNow) return;
  sendingNow = true;
  try {
    if (navigator.locks) await navigator.locks.request(shelf.prefix, sendAll);
    else await sendAll();
  } catch {
    setTrouble("server");
  } finally {
    sendingNow = false;
    show();
  }
}

async function sendAll() {
  for (let names = allWaiting(); names.length; names = allWaiting()) {
    for (const name of names) if (!(await sendOne(name))) return;
  }
}

async function ask() {
  const answer = await fetch(`changes?since=${work.revision}`, { cache: "no-store", signal: AbortSignal.timeout(LONGEST_WAIT) });
  if (!answer.ok) return setTrouble("anew");
  const changes = await answer.json();
  if (changes.session !== work.data.session) return setTrouble("other");
  takeChanges(changes);
  const waits = allWaiting().length > 0;
  // A disk that was full is full until something could be saved.
  if (trouble !== "disk" || !waits) setTrouble("");
  if (waits) {
    trouble = "";
    await send();
    if (!trouble) setTrouble("");
  }
  return show();
}

async function follow() {
  try {
    await ask();
  } catch {
    setTrouble("server");
  }
  setTimeout(follow, trouble ? PAUSE_WITHOUT_SERVER : PAUSE);
}

function setTrouble(kind, words = "") {
  trouble = kind;
  const count = allWaiting().length;
  const kept = count
    ? ` ${count === 1 ? "One choice is" : `${count} choices are`} kept in this browser, not saved yet.`
    : " Everything until now is saved.";
  const said = {
    "": "",
    server: `The server has ended.${kept} You may go on reading and choosing. Start it again with: ${work.data.resume}`,
    anew: `The server has been started anew.${kept} Open the address that it has printed; this page then goes on too.`,
    other: `Another piece of labelling is served here now.${kept} Go on with this one by: ${work.data.resume}`,
    disk: `The server cannot save: ${words}.${kept} It is tried again every second.`,
  };
  notify(said[kind]);
}

function startSending() {
  shelf.prefix = `sleuth.label.${work.data.session}.`;
  readShelf();
  const askNow = () => ask().catch(() => setTrouble("server"));
  // Another tab of this rater has chosen something, or has had it saved.
  window.addEventListener("storage", (event) => {
    if (!event.key?.startsWith(shelf.prefix)) return;
    readShelf();
    void askNow();
  });
  window.addEventListener("beforeunload", (event) => {
    if (shelf.onlyHere.size) event.preventDefault();
  });
  document.addEventListener("visibilitychange", () => document.hidden || askNow());
}
