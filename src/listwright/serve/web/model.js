// A model version, and what is proved of it.
import { call } from "./api.js";
import { badge, card, choice, facts, faint, id, make } from "./dom.js";
import { atLeast, count, interval, number, percent, plural, when } from "./format.js";

export async function content(argument) {
  const { models, traffic } = await call("/v1/models");
  const model = await call(`/v1/models/${encodeURIComponent(argument || traffic.current)}`);
  const title = make("h1", {}, `Model version ${model.version}`);
  return [title, versions(models, model.version), certified(model.certified), certificate(model.certificate), about(model)].filter(Boolean);
}

function versions(models, shown) {
  if (models.length < 2) return "";
  const name = ({ version, role }) => `Version ${version}${role === "idle" ? "" : ` (${role})`}`;
  return choice("Versions", models.map((one) => [`#/model/${one.version}`, name(one), one.version === shown]));
}

function certified(text) {
  return text && card("What is certain of its lists", make("p", { class: "statement" }, text));
}

function certificate(found) {
  const title = "Online certificate";
  if (!found) return card(title, faint("This model has none: nothing was measured while it learned."));
  const { assumptions_met: holds } = found;
  const verdict = holds ? badge("guarantee holds", "good") : badge("no guarantee", "warn");
  return make(
    "section",
    { class: "card" },
    make("div", { class: "row spread" }, make("h2", {}, title), verdict),
    make("p", { class: "statement" }, found.text),
    points("What breaks the assumptions", found.breaches),
    make("h3", {}, "What was seen"),
    numbers(found),
    points("How they came about", found.notes),
  );
}

function numbers(found) {
  return facts([
    ["Worth of the lists while learning", number(found.value_seen)],
    ["States learned from", count(found.rounds)],
    ["Length of the lists", plural(found.length, "item")],
  ]);
}

function points(title, texts) {
  return texts.length ? [make("h3", {}, title), make("ul", {}, texts.map((text) => make("li", {}, text)))] : [];
}

function about(model) {
  const { rate, role } = model;
  const failed = `${percent(rate.failure_rate)} (95 %: ${interval(rate.low, rate.high)})`;
  const pairs = [
    ["Kind", model.kind],
    ["Serves", role === "idle" ? "nothing at present" : `${percent(model.share)} of lists (${role})`],
    ["Lists served", `${count(rate.lists)}, ${count(rate.answered)} with feedback`],
    ["Failure rate", rate.answered ? failed : "no feedback yet"],
    ["Bring a gain, at least", rate.answered ? `${atLeast(rate.success_at_least)} (95 %, at all times)` : "–"],
    ["Length of a list", model.length && plural(model.length, "item")],
    ["Budget of a list", model.budget],
    ["Features of a candidate", count(model.n_features)],
    ["Names of the features", model.feature_names && id(model.feature_names.join(", "))],
    ["Numbers of the context", model.n_context && count(model.n_context)],
    ["Added", when(model.created)],
    ["SHA-256 of the file", id(model.digest)],
  ];
  return card("About", facts(pairs));
}
