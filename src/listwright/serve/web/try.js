// A list for candidates that are typed or pasted, and feedback on it.
import { call } from "./api.js";
import { numberOf, readItems, writeTable } from "./candidates.js";
import { button, card, faint, link, make, note, tell, visible } from "./dom.js";
import { plural } from "./format.js";
import { pick } from "./lists.js";

const EXAMPLES = 8;
const FORMAT =
  "One a line, under a line of names: id, the features, and size where there is a budget. " +
  "Or a JSON array of items as the API takes them. These are made up, with random numbers in the trained range.";
const MARK =
  "Mark what was useful, or nothing, and send it: the service counts it, and learns from it where learning is on.";

export async function content() {
  const { traffic } = await call("/v1/models");
  const model = await call(`/v1/models/${traffic.current}`);
  const answer = make("div", { id: "answer", "aria-live": "polite" });
  const about = make("p", {}, "Send candidates, see the list. It is stored and counted like any other.");
  return [make("h1", {}, "Try it"), about, form(model, answer), answer];
}

function form(model, answer) {
  const text = { spellcheck: "false", autocomplete: "off", required: true, class: "id" };
  const inputs = {
    candidates: make("textarea", { rows: 10, wrap: "off", ...text }),
    context: model.n_context ? make("input", { ...text, value: random(model.n_context).join(", ") }) : null,
    length: make("input", { type: "number", min: 1, step: 1, inputmode: "numeric", placeholder: model.length }),
    budget: make("input", { type: "number", min: 0, step: "any", inputmode: "decimal", placeholder: model.budget }),
  };
  const fill = () => (inputs.candidates.value = example(model));
  const onsubmit = (event) => {
    event.preventDefault();
    return build(answer, () => request(model, inputs));
  };
  fill();
  return make("form", { class: "card", onsubmit }, fields(model, inputs), buttons(fill));
}

function fields(model, { candidates, context, length, budget }) {
  const limits = [field("Length", "Items of the list.", length), field("Budget", "Total size of the items.", budget)];
  const told = `${plural(model.n_context ?? 0, "number")} with commas between them.`;
  return [
    field("Candidates", FORMAT, candidates),
    context && field("Context", told, context),
    make("div", { class: "pair" }, limits),
  ];
}

function field(label, hint, input) {
  input.id = label.toLowerCase();
  input.setAttribute("aria-describedby", `${input.id}-hint`);
  const told = make("p", { class: "faint", id: `${input.id}-hint` }, hint);
  return make("div", { class: "field" }, make("label", { for: input.id }, label), input, told);
}

function buttons(fill) {
  const other = button("Other random candidates", fill, "quiet");
  return make("div", { class: "row" }, make("button", { type: "submit" }, "Build the list"), other);
}

const random = (count) => Array.from({ length: count }, () => Math.random().toFixed(3));

/** In the middle third of what the service takes, which is about the trained range. */
function inRange(width, ranges) {
  const ends = ranges ?? Array.from({ length: width }, () => [-1, 2]);
  return ends.map(([low, high]) => Number((low + ((1 + Math.random()) * (high - low)) / 3).toPrecision(3)));
}

function example({ feature_names: known, n_features: width, budget, ranges }) {
  const names = known ?? Array.from({ length: width }, (_, i) => `feature ${i + 1}`);
  const size = () => (budget ? [Math.ceil(10 * Math.random())] : []);
  const rows = Array.from({ length: EXAMPLES }, (_, i) => [`item-${i + 1}`, ...inRange(width, ranges), ...size()]);
  return writeTable(["id", ...names, ...(budget ? ["size"] : [])], rows);
}

function request(model, { candidates, context, length, budget }) {
  const asked = { items: readItems(candidates.value, model.feature_names), explain: true, model: model.name };
  if (context) asked.context_features = context.value.split(",").map(numberOf);
  if (length.value) asked.length = Number(length.value);
  if (budget.value) asked.budget = Number(budget.value);
  return asked;
}

async function build(answer, read) {
  if (answer.hasAttribute("aria-busy")) return;
  answer.setAttribute("aria-busy", "true");
  try {
    const list = await call("/v1/lists", read());
    answer.replaceChildren(shown(list));
    tell(`A list of ${plural(list.items.length, "item")}.`);
  } catch (error) {
    answer.replaceChildren(note("bad", byCandidate(error.message)));
  }
  answer.removeAttribute("aria-busy");
  answer.scrollIntoView({ block: "nearest" });
}

/** The service counts items from 0, people count candidates from 1. */
function byCandidate(message) {
  return message.replace(/^items\.(\d+)\.(?:features\.)?/, (_, i) => `Candidate ${Number(i) + 1}, `);
}

function shown(list) {
  const boxes = list.items.map((_, i) => make("input", { type: "checkbox", id: `useful-${i}` }));
  const lines = list.items.map((item, i) => marked(item, boxes[i]));
  const said = make("div", { class: "said" });
  const onsubmit = async (event) => {
    event.preventDefault();
    const clicks = list.items.filter((_, i) => boxes[i].checked).map((item) => item.id);
    said.replaceChildren(await feedback({ list_id: list.list_id, clicks }));
  };
  const send = make("button", { type: "submit" }, "Send feedback");
  const foot = make("div", { class: "row" }, send, link(`#/lists/${list.list_id}`, "Explore this list"));
  const picks = make("ol", { class: "picks" }, lines);
  const title = `The list: ${plural(list.items.length, "item")}, by version ${list.model_version}`;
  return card(title, clipped(list), make("form", { onsubmit }, picks, faint(MARK), foot, said));
}

function clipped(list) {
  if (!list.clipped) return "";
  const text = "far from what the model was trained on: clipped to that range, and the list is not learned from.";
  return note("plain", `${plural(list.clipped, "number")} ${text}`);
}

function marked(item, box) {
  const line = pick(item);
  const whose = make("span", { class: "unseen" }, `: ${visible(item.id)}`);
  line.append(make("label", { class: "check", for: box.id }, box, "useful", whose));
  return line;
}

async function feedback(told) {
  try {
    await call("/v1/feedback", told);
    return note("good", "Thank you: this is stored.");
  } catch (error) {
    return note("bad", error.message);
  }
}
