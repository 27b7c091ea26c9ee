// How numbers are said, and where an axis puts its ticks.
const WHOLE = new Intl.NumberFormat("en-GB");

function steps(count) {
  return WHOLE.format(count);
}

function plain(value) {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "−inf";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e6) {
    const [digits, power] = value.toExponential(2).split("e");
    return `${Number(digits)}e${power.replace("+", "")}`.replaceAll("-", "−");
  }
  const text = size >= 1000 ? WHOLE.format(Number(value.toPrecision(6))) : String(Number(value.toPrecision(4)));
  return text.replace("-", "−");
}

function percent(value) {
  return Number.isFinite(value) ? `${Number((value * 100).toPrecision(3))} %` : plain(value);
}

function scaled(value, units, base) {
  if (!Number.isFinite(value)) return plain(value);
  let index = 0;
  while (Math.abs(value) >= base && index < units.length - 1) {
    value /= base;
    index += 1;
  }
  return `${Number(value.toPrecision(4))} ${units[index]}`;
}

function bytes(value) {
  return scaled(value, ["B", "KB", "MB", "GB", "TB"], 1000);
}

function seconds(value) {
  if (!Number.isFinite(value) || value === 0) return plain(value);
  const size = Math.abs(value);
  if (size < 1e-3) return `${Number((value * 1e6).toPrecision(3))} µs`;
  if (size < 1) return `${Number((value * 1e3).toPrecision(3))} ms`;
  return `${Number(value.toPrecision(4))} s`;
}

function duration(value) {
  const whole = Math.max(0, Math.floor(value));
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  const two = (number) => String(number).padStart(2, "0");
  if (hours) return `${hours} h ${two(minutes)} min`;
  return minutes ? `${minutes} min ${two(whole % 60)} s` : `${whole} s`;
}

// Of those that are numbers; NaN where there are none.
function quantile(values, share) {
  const sorted = values.filter(Number.isFinite).sort((one, other) => one - other);
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] : NaN;
}

function linearTicks(low, high, wanted) {
  const raw = (high - low) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(raw));
  const width = power * ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= raw) ?? 10);
  const ticks = [];
  for (let index = Math.ceil(low / width - 1e-9); index * width <= high + width * 1e-9; index += 1) {
    ticks.push(Number((index * width).toPrecision(12)));
    if (ticks.length > 50) break;
  }
  return ticks;
}

function stepTicks(low, high, wanted) {
  return linearTicks(low, high, wanted).filter(Number.isInteger);
}

function logTicks(low, high, wanted) {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const decades = last - first + 1;
  const every = Math.max(1, Math.ceil(decades / wanted));
  const factors = decades <= 1 ? [1, 2, 3, 5, 7] : decades * 2 <= wanted ? [1, 3] : [1];
  const ticks = [];
  for (let power = first - 1; power <= last; power += 1) {
    if (decades > wanted && (((power - first) % every) + every) % every) continue;
    for (const factor of factors) {
      const tick = Number((factor * 10 ** power).toPrecision(6));
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  return ticks.length > 1 ? ticks : linearTicks(low, high, wanted).filter((tick) => tick > 0);
}
