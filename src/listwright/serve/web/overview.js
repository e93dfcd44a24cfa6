// How it goes: lists served, failure rates over time and by version, gain by position.
import { call } from "./api.js";
import { button, card, choice, faint, link, make, note, table } from "./dom.js";
import { count, duration, interval, lately, number, percent, plural } from "./format.js";
import { figure } from "./plots.js";
import { failures, gains, served } from "./specifications.js";

const SPANS = [
  { key: "hour", label: "Hour", seconds: 3600, step: 300 },
  { key: "day", label: "Day", seconds: 86400, step: 1800 },
  { key: "week", label: "Week", seconds: 7 * 86400, step: 4 * 3600 },
  { key: "month", label: "30 days", seconds: 30 * 86400, step: 86400 },
];

export async function content(key, refresh) {
  const span = SPANS.find((one) => one.key === key) ?? SPANS[1];
  const [stats, models, series, positions] = await Promise.all([
    call("/v1/stats"),
    call("/v1/models"),
    call(`/v1/stats/series?seconds=${span.seconds}&step=${span.step}`),
    call("/v1/stats/positions"),
  ]);
  const head = make("div", { class: "row spread" }, make("h1", {}, "Overview"), button("Refresh", refresh, "quiet"));
  const tiles = make("ul", { class: "tiles" }, numbers(stats, models.traffic));
  if (!stats.lists) return [head, tiles, nothing(), versions(models)];
  return [head, tiles, spans(span), ...overTime(series, span), byPosition(positions.positions), versions(models)];
}

function tile(name, value, text) {
  const shown = make("span", { class: "value" }, value);
  return make("li", {}, make("span", { class: "name" }, name), shown, make("span", { class: "faint" }, text));
}

function numbers(stats, { current, canary, share }) {
  const { low, high, learning } = stats;
  return [
    tile("Lists served", count(stats.lists), `${count(stats.answered)} with feedback`),
    tile("Failure rate", percent(stats.failure_rate), low == null ? "no feedback yet" : `95 %: ${interval(low, high)}`),
    tile("Learning", learning.on ? "On" : "Off", learning.on ? learned(learning) : "here; see Learning"),
    tile("Serving", `Version ${current}`, canary ? `version ${canary} gets ${percent(share)}` : "gets every list"),
  ];
}

function learned({ events, applied }) {
  if (applied < events) return `${count(events - applied)} of ${plural(events, "event")} to go`;
  return events ? `all ${plural(events, "event")} learned` : "no feedback yet";
}

function nothing() {
  const next = [link("#/try", "Try it"), " with candidates of your own, or see the ", link("docs", "API"), "."];
  return note("plain", make("p", {}, "No lists have been served yet."), make("p", {}, next));
}

function spans(shown) {
  const options = SPANS.map((one) => [`#/overview/${one.key}`, one.label, one === shown]);
  return choice("Time shown", options, make("span", { class: "faint" }, "The last"));
}

function overTime({ points, step }, { seconds }) {
  const span = { seconds, step, until: Date.now() / 1000 };
  return [servedOverTime(points, span), failuresOverTime(points, span)];
}

const WHEN = [
  ["From", (point) => lately(point.start), "text"],
  ["Version", (point) => point.version],
];
const LISTS = ["Lists", (row) => count(row.lists)];
const RATE = [
  ["With feedback", (row) => count(row.answered)],
  ["Failed", (row) => count(row.failures)],
  ["Failure rate", (row) => percent(row.failure_rate)],
  ["95 % interval", (row) => interval(row.low, row.high)],
];

function servedOverTime(points, span) {
  const title = "Lists served";
  if (!points.length) return card(title, faint("No lists in this time."));
  const text = `By model version, per ${duration(span.step)}.`;
  return figure(title, text, served(points, span), table(title, [...WHEN, LISTS, RATE[0]], points));
}

function failuresOverTime(points, span) {
  const title = "Failure rate";
  if (!points.some((point) => point.answered)) return card(title, faint("No feedback on the lists of this time."));
  const text = `Share of lists with feedback that brought nothing, per ${duration(span.step)}, with 95 % intervals.`;
  return figure(title, text, failures(points, span), table(title, [...WHEN, ...RATE], points));
}

function byPosition(positions) {
  const title = "Gain by position";
  if (!positions.length) return card(title, faint("No feedback yet."));
  const text = "What each position added, from 0 to 1, over all time, with 95 % intervals.";
  const columns = [WHEN[1], ["Position", (row) => row.position], RATE[0], ["Mean gain", (row) => number(row.gain)]];
  return figure(title, text, gains(positions), table(title, columns, positions));
}

function versions({ models }) {
  const rows = models.map((one) => ({ ...one, ...one.rate }));
  const columns = [
    ["Version", (one) => link(`#/model/${one.version}`, `Version ${one.version}`), "text"],
    ["Serves", (one) => (one.role === "idle" ? "\u2013" : `${percent(one.share)} (${one.role})`), "text"],
    LISTS,
    ...RATE,
  ];
  return card("Model versions", table("Model versions side by side", columns, rows));
}
