// The explorer: the latest lists, and one list in full.
import { call } from "./api.js";
import { badge, card, facts, faint, id, link, make, note, table, visible } from "./dom.js";
import { count, lately, number, plural, signed, when } from "./format.js";
import { figure } from "./plots.js";
import { shares } from "./specifications.js";

const PAGE = 25;
const BEFORE = "before-";

export async function content(argument) {
  return argument && !argument.startsWith(BEFORE) ? detail(argument) : recent(argument.replace(BEFORE, ""));
}

async function recent(before) {
  const { lists } = await call(`/v1/lists?limit=${PAGE}${before && `&before=${encodeURIComponent(before)}`}`);
  const head = [make("h1", {}, before ? "Older lists" : "Lists"), search()];
  if (!lists.length) return [...head, nothing(before)];
  const pages = make(
    "nav",
    { class: "row", "aria-label": "Pages" },
    before ? link("#/lists", "Latest") : null,
    lists.length === PAGE ? link(`#/lists/${BEFORE}${lists.at(-1).list_id}`, "Older") : null,
  );
  return [...head, make("section", { class: "card" }, table("Lists, the latest first", COLUMNS, lists)), pages];
}

const COLUMNS = [
  ["List", (one) => shortened(one.list_id), "text"],
  ["Outcome", (one) => outcome(one.failed), "text"],
  ["Served", (one) => lately(one.created), "text"],
  ["Items", (one) => count(one.items)],
  ["Version", (one) => one.model_version],
];

/** Ids begin with the time, so they differ at the end. */
function shortened(list) {
  const attributes = { class: "id short", title: list, "aria-label": `List ${list}` };
  return link(`#/lists/${list}`, `\u2026${list.slice(-8)}`, attributes);
}

function nothing(before) {
  const text = before ? "There are no older lists." : "No lists have been served yet.";
  return note("plain", make("p", {}, text), make("p", {}, link("#/try", "Try it"), " with candidates of your own."));
}

function search() {
  const shape = { pattern: "\\s*[0-9a-f]{32}\\s*", title: "32 digits and letters from a to f", required: true };
  const input = make("input", { id: "list-id", class: "id", autocomplete: "off", spellcheck: "false", ...shape });
  const onsubmit = (event) => {
    event.preventDefault();
    location.hash = `#/lists/${input.value.trim()}`;
  };
  const label = make("label", { for: "list-id" }, "Open a list by its id");
  const row = make("div", { class: "row" }, input, make("button", { type: "submit" }, "Open"));
  return make("form", { class: "search", onsubmit }, label, row);
}

function outcome(failed) {
  if (failed == null) return badge("no feedback");
  return failed ? badge("failed", "bad") : badge("success", "good");
}

async function detail(list_id) {
  const list = await call(`/v1/lists/${encodeURIComponent(list_id)}?explain=true`);
  const gains = list.feedback?.gains ?? null;
  const about = facts([
    ["Outcome", outcome(gains && !gains.some((gain) => gain > 0))],
    ["Served", when(list.created)],
    ["Picked", `${count(list.items.length)} of ${plural(list.candidates, "candidate")}`],
    ["Model", link(`#/model/${list.model_version}`, `version ${list.model_version}`)],
    ["List", id(list.list_id)],
    ["Learned from", list.learned_from ? null : "no: the request was out of the trained range"],
    ["Your metadata", list.metadata == null ? null : id(JSON.stringify(list.metadata))],
    ["Feedback", list.feedback && plural(list.feedback.events.length, "event")],
  ]);
  const back = make("p", {}, link("#/lists", "\u2190 All lists"));
  return [back, make("h1", {}, "One list"), make("section", { class: "card" }, about), ...explained(list, gains)];
}

function explained({ items, reasons }, gains) {
  const lines = items.map((item, i) => pick(item, reasons?.picks[i], gains?.[i]));
  const picks = card("Picks in order", make("ol", { class: "picks" }, lines));
  if (!reasons) return [picks, note("plain", "This model gives no reasons beyond its scores.")];
  const parts = [picks, madeOf(reasons.picks), skipped(reasons.skipped)];
  return reasons.same_state ? parts : [note("plain", LEARNED), ...parts];
}

const LEARNED =
  "The model has learned since. The reasons are those of its present state, along the items as they were picked.";

/** One item of a list: its score, and why it is here. */
export function pick(item, reason, gain) {
  const name = [id(item.id, "strong"), gain == null ? null : badge(`gain ${number(gain, 2)}`, gain > 0 ? "good" : "")];
  const unit = make("span", { class: "faint" }, "score");
  const score = make("div", { class: "score" }, make("b", {}, number(item.score)), unit);
  return line(item.position, name, [why(item), because(reason), reason?.note], score);
}

function line(place, name, texts, more) {
  const told = texts.filter(Boolean).map((text) => make("p", {}, text));
  const number = make("span", { class: "place", "aria-hidden": "true" }, place);
  return make("li", {}, number, make("div", { class: "name" }, name), more, make("div", { class: "told faint" }, told));
}

function why({ why: told, propensity, position }) {
  const parts = [];
  if (told) {
    const change = Math.abs(told.given_list) < 0.0005 ? "nothing" : `it by ${signed(told.given_list)}`;
    const given = position > 1 ? `; the items before it change ${change}` : "";
    parts.push(`Number ${count(told.rank_alone)} on its own (${number(told.alone)})${given}.`);
  }
  if (propensity != null && propensity < 1) parts.push(`Drawn with probability ${number(propensity)}.`);
  return parts.join(" ");
}

function because(reason) {
  if (!reason) return "";
  const { margin, runner_up: second } = reason;
  const largest = Object.entries(reason.columns).map(([name, share]) => `${name} ${signed(share)}`);
  const parts = [];
  const against = margin < 0 ? "below" : "ahead of";
  if (margin != null) parts.push(`${number(Math.abs(margin))} ${against} ${visible(second)}.`);
  if (largest.length) parts.push(`Most from ${largest.join(", ")}.`);
  return parts.join(" ");
}

function madeOf(picks) {
  const groups = Object.keys(picks[0]?.contributions ?? {});
  const title = "What the scores are made of";
  if (!groups.length) return "";
  const text = "Each score by what it comes from: the item itself, and what it adds to the items before it.";
  const columns = [
    ["Item", (one) => visible(one.item), "text id"],
    ["Score", (one) => number(one.score)],
    ...groups.map((group) => [group, (one) => signed(one.contributions[group] ?? 0)]),
  ];
  return figure(title, text, shares(picks), table(title, columns, picks));
}

function skipped(items) {
  const nothing = "Nothing: the list holds the items that score highest on their own.";
  if (!items.length) return card("Skipped", faint(nothing));
  const text = "Items that would be in the list by their score alone, with their place, and the pick that took it.";
  const lines = items.map((one) => line(one.rank_alone, [id(one.item, "strong")], [reasonToSkip(one)]));
  return card("Skipped", faint(text), make("ul", { class: "picks skipped" }, lines));
}

function reasonToSkip({ rank_alone, because_of, change, change_of_others, does_not_fit }) {
  const alone = `Number ${count(rank_alone)} on its own.`;
  if (does_not_fit != null) return `${alone} Too large for what was left of the budget at position ${does_not_fit}.`;
  if (because_of == null) return `${alone} Others gained on it.`;
  const changes = `its score changed by ${signed(change)}, the others' by ${signed(change_of_others)}`;
  return `${alone} Skipped for ${visible(because_of)}, which made it redundant: ${changes}.`;
}
