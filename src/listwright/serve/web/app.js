// Which view is shown: the address says it, so views can be linked to and the browser's back button works.
import { Refused, askForKey } from "./api.js";
import { button, make, note, tell } from "./dom.js";
import { clear, draw } from "./plots.js";
import * as learning from "./learning.js";
import * as lists from "./lists.js";
import * as model from "./model.js";
import * as overview from "./overview.js";
import * as tryIt from "./try.js";

const views = { overview, lists, learning, model, try: tryIt };
const main = document.getElementById("main");
let turn = 0;

async function show({ moved }) {
  const mine = ++turn;
  const [name = "", ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  const [key, view] = views[name] ? [name, views[name]] : ["overview", overview];
  mark(key);
  main.setAttribute("aria-busy", "true");
  const content = await viewed(view, rest.join("/")).catch(refusal);
  if (mine !== turn) return;
  clear(main);
  main.replaceChildren(...content);
  main.removeAttribute("aria-busy");
  document.title = `${main.querySelector("h1")?.textContent ?? "listwright"} \u00b7 listwright`;
  if (moved) arrive();
  await draw(main);
}

const viewed = async (view, rest) => view.content(decodeURIComponent(rest), () => show({ moved: false }));

function mark(key) {
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === key) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** Those who do not see the page change are told, and go on from its top. */
function arrive() {
  scrollTo(0, 0);
  main.focus({ preventScroll: true });
  tell(document.title);
}

function refusal(error) {
  const told = error instanceof Refused;
  if (!told) console.error(error);
  const again = () => show({ moved: false });
  const other = () => askForKey("").then(again, () => {});
  const next = [401, 403].includes(error.status) ? button("Use another key", other) : button("Try again", again);
  const text = told ? error.message : "Something went wrong on this page.";
  return [make("h1", {}, "That did not work"), note("bad", text), make("div", { class: "row" }, next)];
}

addEventListener("hashchange", () => {
  if (location.hash !== "#main") show({ moved: true });
});
show({ moved: false });
