// What the charts show, as Vega-Lite says it.
import { visible } from "./dom.js";
import { count, interval, lately, number, percent, signed } from "./format.js";

const HEIGHT = 220;
const LINE = 26; // pixels of one bar that lies
const DAY = 86400;

const versionName = (version) => `version ${version}`;

const versions = (rows) => [...new Set(rows.map((row) => row.version))].sort((a, b) => a - b);

/** The colour of a version follows from its number alone, so it is the same in every chart. */
function coloured(rows, symbolType) {
  const there = versions(rows);
  const domain = Array.from({ length: Math.max(1, ...there) }, (_, i) => versionName(i + 1));
  return { field: "of", type: "nominal", scale: { domain }, legend: { symbolType, values: there.map(versionName) } };
}

/** The whole stretch, whether there were lists or not. */
function time(points, { until, seconds, step }, field) {
  const format = seconds > DAY ? "%-d %b" : "%H:%M";
  const ends = [Math.min(until - seconds, points[0].start), Math.max(until, points.at(-1).start + step)];
  // An expression, because layers cannot share a domain of two dates.
  const scale = { domain: { expr: `[${1000 * ends[0]}, ${1000 * ends[1]}]` } };
  const axis = { title: null, format, grid: false, labelOverlap: true, tickCount: { expr: "width / 90" } };
  return { field, type: "temporal", scale, axis };
}

/** Numbers of the unbroken runs of each version, so that no line is drawn across a gap. */
function runs(points, step) {
  const last = new Map();
  return points.map(({ version, start }) => {
    const before = last.get(version) ?? { start, run: 0 };
    const run = before.run + (start - before.start > step);
    last.set(version, { start, run });
    return run;
  });
}

const tooltip = (...titles) => titles.map((title) => ({ field: title, type: "nominal" }));

const frame = (values, more) => ({ data: { values }, width: "container", height: HEIGHT, ...more });

/** Lists over time, stacked by version. */
export function served(points, span) {
  const values = points.map((point) => ({
    lists: point.lists,
    of: versionName(point.version),
    start: 1000 * point.start,
    end: 1000 * (point.start + span.step),
    model: versionName(point.version),
    from: lately(point.start),
    "lists served": count(point.lists),
    "with feedback": count(point.answered),
  }));
  return frame(values, {
    transform: [{ stack: "lists", groupby: ["start"], sort: [{ field: "of" }], as: ["below", "above"] }],
    mark: { type: "rect" },
    encoding: {
      x: time(points, span, "start"),
      x2: { field: "end" },
      y: { field: "below", type: "quantitative", axis: { title: "lists", tickMinStep: 1, format: ",d" } },
      y2: { field: "above" },
      color: coloured(points, "square"),
      tooltip: tooltip("model", "from", "lists served", "with feedback"),
    },
  });
}

/** Failure rates over time with their intervals. */
export function failures(points, span) {
  const known = points.filter((point) => point.answered);
  const run = runs(known, span.step);
  const values = known.map(({ version, start, failure_rate: rate, low, high, answered }, i) => ({
    run: run[i],
    rate,
    low,
    high,
    of: versionName(version),
    middle: 1000 * (start + span.step / 2),
    model: versionName(version),
    from: lately(start),
    failed: percent(rate),
    "95 % interval": interval(low, high),
    "with feedback": count(answered),
  }));
  const axis = { title: "lists that failed", labelExpr: "format(100 * datum.value, '~g') + ' %'" };
  const range = { y: { field: "low", type: "quantitative", axis }, y2: { field: "high" } };
  const share = { y: { field: "rate", type: "quantitative" } };
  return frame(values, {
    encoding: {
      x: time(points, span, "middle"),
      detail: { field: "run" },
      color: coloured(known, "stroke"),
      tooltip: tooltip("model", "from", "failed", "95 % interval", "with feedback"),
    },
    layer: [
      { mark: { type: "area", opacity: 0.13 }, encoding: range },
      { mark: { type: "rule", opacity: 0.4 }, encoding: range },
      { mark: { type: "line", strokeWidth: 2 }, encoding: share },
      { mark: { type: "point", size: 36, filled: true, opacity: 1 }, encoding: share },
    ],
  });
}

/** Mean gain by position; gains are between 0 and 1, and so are their intervals. */
export function gains(positions) {
  const values = positions.map(({ version, position, gain, low, high, answered }) => ({
    gain,
    low: low == null ? gain : Math.max(0, low),
    high: high == null ? gain : Math.min(1, high),
    of: versionName(version),
    position,
    model: versionName(version),
    "mean gain": number(gain),
    "95 % interval": low == null ? "\u2013" : `${number(Math.max(0, low))} to ${number(Math.min(1, high))}`,
    "with feedback": count(answered),
  }));
  const there = versions(positions).map(versionName);
  const beside = there.length > 1 ? { xOffset: { field: "of", scale: { domain: there } } } : {};
  const places = [...new Set(positions.map((row) => row.position))].sort((a, b) => a - b);
  const axis = { title: "position in the list", labelAngle: 0 };
  const x = { field: "position", type: "ordinal", scale: { domain: places }, axis };
  const gain = { field: "gain", type: "quantitative", stack: null, axis: { title: "mean gain", format: "~g" } };
  const range = { y: { field: "low", type: "quantitative" }, y2: { field: "high" } };
  return frame(values, {
    encoding: { x, ...beside, tooltip: tooltip("model", "position", "mean gain", "95 % interval", "with feedback") },
    layer: [
      { mark: { type: "bar", opacity: 0.85 }, encoding: { y: gain, color: coloured(positions, "square") } },
      { mark: { type: "rule", strokeWidth: 1.5 }, encoding: range },
    ],
  });
}

/** What the score of each pick is made of. */
export function shares(picks) {
  const values = picks.flatMap(({ position, item, contributions }) =>
    Object.entries(contributions).map(([group, share]) => ({
      group,
      share,
      item: `${position}. ${visible(item)}`,
      from: group,
      "part of the score": signed(share),
    })),
  );
  const groups = [...new Set(values.map((value) => value.group))];
  const across = { title: "part of the score", format: "~g", tickCount: { expr: "width / 70" } };
  const down = { title: null, labelLimit: 120, ticks: false, domain: false };
  return frame(values, {
    height: LINE * picks.length,
    mark: { type: "bar", height: 16 },
    encoding: {
      y: { field: "item", type: "nominal", sort: null, axis: down },
      x: { field: "share", type: "quantitative", axis: across },
      color: { field: "group", type: "nominal", scale: { domain: groups }, legend: { symbolType: "square" } },
      tooltip: tooltip("item", "from", "part of the score"),
    },
  });
}
