// Starts the page: from the data in this file, or from the server, which is then asked again and again for what is new.
const BUSY = 1000;
const IDLE = 5000;
const FAILURES_UNTIL_SAID = 2;
const notice = document.getElementById("notice");
let failures = 0;
let tag = null;
let ofRun = "";

function display(data) {
  const { newFindings } = take(data);
  if (newFindings || !store.findings.length) showFindings(document.getElementById("findings"));
  showPanels(document.getElementById("curves"));
  document.body.classList.toggle("curveless", store.curves.size === 0);
  showHeader();
  redraw();
}

function say(words) {
  setText(notice, words);
  notice.hidden = !words;
  document.body.classList.toggle("deserted", Boolean(words));
}

function setLive(now) {
  if (live === now) return;
  live = now;
  say(live ? "" : "The server has ended. This is the last it has told; `sleuth view` starts it again.");
  if (store.run) showHeader();
}

async function ask() {
  const headers = tag === null ? {} : { "If-None-Match": tag };
  const answer = await fetch(`data?since=${store.version}${ofRun}`, { headers, cache: "no-store" });
  if (answer.status === 304) return;
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  const data = await answer.json();
  tag = answer.headers.get("ETag");
  display(data);
}

async function follow() {
  let pause = BUSY;
  if (!document.hidden) {
    try {
      await ask();
      failures = 0;
      setLive(true);
      if (store.run.state.name !== "running") pause = IDLE;
    } catch {
      failures += 1;
      if (failures >= FAILURES_UNTIL_SAID) {
        setLive(false);
        pause = IDLE;
      }
    }
  }
  setTimeout(follow, pause);
}

buildHeader(document.getElementById("header"));
const own = document.getElementById("record");
if (own) {
  display(JSON.parse(own.textContent));
} else {
  // The cookie opens the page from here on; the secret need not stay in the address bar and the history.
  const chosen = new URLSearchParams(location.search).get("run");
  if (chosen !== null) ofRun = `&run=${encodeURIComponent(chosen)}`;
  history.replaceState(null, "", chosen === null ? "/" : `/?${ofRun.slice(1)}`);
  listRuns(chosen);
  live = true;
  setInterval(showTime, 1000);
  follow();
}
