// What there is to label, what has been said of it, and which post is on the page.
const work = {
  data: null,
  posts: [],
  places: new Map(),
  labels: new Map(),
  marks: new Map(),
  revision: 0,
  secondsEach: null,
  current: null,
  filter: "all",
  search: "",
  finished: false,
  // A second choice may be pressed before the first.
  pendingSecond: null,
  undo: [],
};
const NOTHING = { labels: [], second: null, note: "", at_ms: 0 };

function begin(data) {
  work.data = data;
  work.posts = data.posts;
  work.posts.forEach((post, place) => {
    work.places.set(post.key, place);
    post.searched = [post.key, post.title, post.tags.join(" "), post.text, ...post.code].join("\n").toLowerCase();
  });
  data.codebook.labels.forEach((label) => work.labels.set(label.name, label));
  takeChanges(data);
  work.current = whereToGoOn();
  work.finished = work.current === null;
  work.current ??= work.posts[work.posts.length - 1].key;
}

function takeChanges(changes) {
  for (const [key, mark] of Object.entries(changes.marks)) if (work.places.has(key)) work.marks.set(key, mark);
  work.revision = changes.revision;
  work.secondsEach = changes.seconds_each;
}

// As the rater sees it: what waits to be sent counts as said, and is shown as waiting.
function markOf(key) {
  const saved = work.marks.get(key) ?? NOTHING;
  const label = waiting("label", key);
  const note = waiting("note", key);
  return { ...saved, ...(label ?? {}), ...(note ?? {}), waits: Boolean(label), noteWaits: Boolean(note) };
}

const isLabelled = (key) => (waiting("label", key) ?? work.marks.get(key) ?? NOTHING).labels.length > 0;
const allLabelled = () => work.posts.every((candidate) => isLabelled(candidate.key));
// Until something is taken back, in another tab for instance.
const isFinished = () => work.finished && allLabelled();
const isDoubtful = (mark) => mark.second !== null || mark.note !== "";
const post = () => work.posts[work.places.get(work.current)];
const hasParts = (name) => work.data.codebook.labels.some((label) => label.within === name);
const partsOf = (name) => work.data.codebook.labels.filter((label) => label.within === name);
const titleOf = (name) => work.labels.get(name)?.title ?? name;
const choosesMany = () => work.data.codebook.choose === "many";

// "Data processing › Tensor": a part says little without the whole.
function pathOf(name) {
  const path = [];
  for (let label = work.labels.get(name); label; label = work.labels.get(label.within)) path.unshift(label.title);
  return path.join(" › ") || name;
}

function isShown(candidate) {
  if (work.search && !work.search.split(/\s+/).every((word) => candidate.searched.includes(word))) return false;
  if (work.filter === "unlabelled") return !isLabelled(candidate.key);
  return work.filter !== "doubtful" || isDoubtful(markOf(candidate.key));
}

// The nearest post in that direction for which `fits` holds; null at the end.
function neighbour(key, step, fits) {
  for (let place = work.places.get(key) + step; place >= 0 && place < work.posts.length; place += step) {
    if (fits(work.posts[place])) return work.posts[place].key;
  }
  return null;
}

// The next post without a label: after this one, or else from the start.
function nextUnlabelled(key) {
  const fits = (candidate) => isShown(candidate) && !isLabelled(candidate.key);
  const found = neighbour(key, 1, fits);
  return found ?? work.posts.find((candidate) => candidate.key !== key && fits(candidate))?.key ?? null;
}

function whereToGoOn() {
  const open = work.posts.find((candidate) => !isLabelled(candidate.key));
  if (!open) return null;
  const times = work.posts.map((candidate) => work.marks.get(candidate.key)?.at_ms ?? 0);
  const latest = times.indexOf(Math.max(...times));
  return times[latest] === 0 ? open.key : nextUnlabelled(work.posts[latest].key) ?? open.key;
}
