// What was learned: by version how far it is, how it compares, its snapshots, and what to do with them.
import { call, download } from "./api.js";
import { badge, button, card, facts, faint, link, make, note, table, tell } from "./dom.js";
import { count, lately, number, plural } from "./format.js";

export async function content(_, refresh) {
  const status = await call("/v1/learning");
  const head = make("div", { class: "row spread" }, make("h1", {}, "Learning"), button("Refresh", refresh, "quiet"));
  const about = status.on ? leader(status) : "This service does not learn; it serves what was learned before.";
  const parts = [head, make("p", {}, about)];
  if (!status.versions.length) return [...parts, note("plain", "No version has learned yet.")];
  return [...parts, ...status.versions.map((one) => version(one, refresh)), quarantine(status.quarantine)];
}

function leader({ leader: who }) {
  return who ? `Replica ${who} learns for all.` : "No replica learns at the moment; another takes over in a few seconds.";
}

function version(one, refresh) {
  const frozen = one.state === "frozen";
  const state = frozen ? badge("paused", "warn") : badge("learning", "good");
  const title = `Version ${one.version}${one.model === "default" ? "" : ` of ${one.model}`}`;
  const said = make("div", { class: "said", "aria-live": "polite" });
  return make(
    "section",
    { class: "card" },
    make("div", { class: "row spread" }, make("h2", {}, title), state),
    frozen ? note(one.serves_learned ? "plain" : "bad", one.reason) : null,
    about(one),
    actions(one, refresh, said),
    said,
    make("h3", {}, "Snapshots"),
    snapshots(one, refresh, said),
  );
}

function about(one) {
  return facts([
    ["Learned from", plural(one.lists, "list")],
    ["Still to learn from", one.waiting ? plural(one.waiting, "feedback", "feedbacks") : "nothing"],
    ["Left out", one.quarantined ? plural(one.quarantined, "feedback", "feedbacks") : null],
    ["Lists come from", one.serves_learned ? "what was learned" : "the model as deployed"],
    ["Against the deployed policy", compared(one.comparison)],
  ]);
}

function compared(found) {
  if (!found) return "not known yet: it takes recent feedback on 200 lists";
  const { difference, low, high, lists } = found;
  const sign = difference > 0 ? "+" : "";
  return `${sign}${number(difference)} gain per list (${number(low)} to ${number(high)}), on ${plural(lists, "list")}`;
}

function actions(one, refresh, said) {
  const frozen = one.state === "frozen";
  const first = frozen ? act("Resume", "resume", one, refresh, said) : act("Pause", "freeze", one, refresh, said);
  const forget = "Forget all that this version has learned? Lists come from the model as deployed again.";
  const reset = act("Forget all", "reset", one, refresh, said, {}, forget);
  return make("div", { class: "row" }, first, reset, exported(one, said, {}, "Download as a model"));
}

function act(text, action, { version }, refresh, said, more = {}, question = "") {
  return button(text, async () => {
    if (question && !confirm(question)) return;
    try {
      await call("/v1/learning", { action, version, ...more });
      tell(`${text}: done.`);
      await refresh();
    } catch (error) {
      said.replaceChildren(note("bad", error.message));
    }
  }, "quiet");
}

function exported({ version }, said, more, text) {
  return button(text, async () => {
    try {
      const file = await download("/v1/learning", { action: "export", version, ...more });
      const url = URL.createObjectURL(file);
      make("a", { href: url, download: `version-${version}.listwright` }).click();
      URL.revokeObjectURL(url);
    } catch (error) {
      said.replaceChildren(note("bad", error.message));
    }
  }, "quiet");
}

function snapshots(one, refresh, said) {
  const back = (row) => `Go back to snapshot ${row.number}? What was learned since is left out.`;
  const columns = [
    ["Number", (row) => row.number],
    ["Use", (row) => (row.number === one.base ? "in use" : act("Go back", "rollback", one, refresh, said, { snapshot: row.number }, back(row))), "text"],
    ["Lists", (row) => count(row.count)],
    ["Taken", (row) => (row.created ? lately(row.created) : "\u2013"), "text"],
    ["Why", (row) => row.reason, "text wrap"],
    ["Size", (row) => (row.bytes ? `${count(Math.ceil(row.bytes / 1024))} KB` : "\u2013")],
  ];
  return table(`Snapshots of version ${one.version}`, columns, one.snapshots);
}

function quarantine(rows) {
  if (!rows.length) return card("Left out", faint("All feedback could be learned from."));
  const columns = [
    ["Event", (row) => row.event],
    ["List", (row) => link(`#/lists/${row.list_id}`, `\u2026${row.list_id.slice(-8)}`, { class: "id short" }), "text"],
    ["Version", (row) => row.version],
    ["Why", (row) => row.reason, "text wrap"],
  ];
  return card("Left out", faint("Feedback that cannot be learned from; the latest first."), table("Feedback left out", columns, rows));
}
