// What the page knows of the run. Data comes whole at first, then as what is new.
const store = {
  run: null,
  findings: [],
  expectations: [],
  bundles: [],
  curves: new Map(),
  version: -1,
  lastStep: 1,
};

function decoded(text) {
  const binary = atob(text);
  const octets = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) octets[index] = binary.charCodeAt(index);
  return new Float64Array(octets.buffer);
}

function joined(old, start, added) {
  if (start === 0) return added;
  const whole = new Float64Array(start + added.length);
  whole.set(old.subarray(0, start));
  whole.set(added, start);
  return whole;
}

// Says whether there are findings to show anew.
function take(data) {
  const axes = data.axes.map(([first, count]) => [decoded(first), decoded(count)]);
  for (const sent of data.series) {
    const key = JSON.stringify([sent.rank, sent.name]);
    let curve = store.curves.get(key);
    if (!curve) {
      curve = { key, rank: sent.rank, name: sent.name, first: null, count: null, mean: null, low: null, high: null };
      store.curves.set(key, curve);
    }
    const mean = decoded(sent.mean);
    const low = sent.low === undefined ? mean : decoded(sent.low);
    const high = sent.high === undefined ? mean : decoded(sent.high);
    curve.first = joined(curve.first, sent.start, axes[sent.axis][0]);
    curve.count = joined(curve.count, sent.start, axes[sent.axis][1]);
    curve.mean = joined(curve.mean, sent.start, mean);
    curve.low = joined(curve.low, sent.start, low);
    curve.high = joined(curve.high, sent.start, high);
    curve.step = curve.first.map((step, index) => step + (curve.count[index] - 1) / 2);
    const end = curve.first.length - 1;
    store.lastStep = Math.max(store.lastStep, curve.first[end] + curve.count[end] - 1);
  }
  store.run = data.run;
  store.version = data.version;
  if (data.findings) {
    store.findings = data.findings;
    store.expectations = data.expectations;
    store.bundles = data.bundles;
    for (const finding of data.findings) store.lastStep = Math.max(store.lastStep, finding.step ?? 0);
  }
  return { newFindings: data.findings !== undefined };
}

// The index of the point nearest to a step.
function nearest(curve, step) {
  const at = curve.step;
  let low = 0;
  let high = at.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at[middle] < step) low = middle + 1;
    else high = middle;
  }
  return low > 0 && step - at[low - 1] < at[low] - step ? low - 1 : low;
}

function isConstant(curve) {
  return curve.low.every((value, index) => value === curve.mean[0] && curve.high[index] === value);
}

function lastValue(curve) {
  return curve.mean[curve.mean.length - 1];
}
