// Charts by Vega-Lite: loaded when the first one is needed, drawn in the colours of the page.
import { call } from "./api.js";
import { card, faint, make } from "./dom.js";

const TRIES = 5;
const COLUMN = 170; // pixels of an entry of a legend
const specifications = new WeakMap();
const drawn = new WeakMap();
const tip = document.getElementById("tip");
let loading = null;

/** A chart with its title, what it shows, and the same numbers as a table. */
export function figure(title, text, specification, numbers) {
  const chart = make("div", { class: "chart" });
  specifications.set(chart, { ...specification, description: `${title}. ${text}` });
  const more = make("details", {}, make("summary", {}, "As a table"), numbers);
  return card(title, faint(text), chart, more);
}

/** Draws the charts inside an element that is on the page. */
export async function draw(inside) {
  const charts = [...inside.querySelectorAll(".chart")];
  if (!charts.length) return;
  try {
    const themes = await (loading ??= load());
    await Promise.all(charts.map((chart) => drawOne(chart, themes)));
  } catch (error) {
    loading = null;
    for (const chart of charts) chart.replaceChildren(faint(`${error.message} The numbers are in the table below.`));
  }
}

/** The colours, and then the library, which a service that has just started may still be putting together. */
async function load() {
  const themes = await call("/page/theme.json");
  for (let left = TRIES; !(await script("page/charts.js")); left -= 1) {
    if (left === 1) throw new Error("The charts cannot be loaded.");
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
  return themes;
}

function script(source) {
  return new Promise((resolve) => {
    const listeners = { onload: () => resolve(true), onerror: () => resolve(false) };
    document.head.append(make("script", { src: source, ...listeners }));
  });
}

/** Lets go of the charts inside an element that leaves the page. */
export function clear(inside) {
  tip.hidden = true;
  for (const chart of inside.querySelectorAll(".chart")) drawn.get(chart)?.finalize();
}

async function drawOne(chart, themes) {
  if (!chart.isConnected) return;
  const theme = globalThis.isDark() ? themes.dark : themes.light;
  const columns = Math.max(1, Math.floor(chart.clientWidth / COLUMN));
  const legend = { ...theme.legend, orient: "top", title: null, columns };
  const config = { ...theme, background: "transparent", legend, rule: { color: theme.axis.titleColor } };
  drawn.get(chart)?.finalize();
  // `ast`: expressions are walked, not compiled, which the page's policy would refuse; so is a style sheet in the page.
  const plain = { mode: "vega-lite", actions: false, renderer: "svg", ast: true, defaultStyle: false };
  const options = { ...plain, config, tooltip: showTip };
  drawn.set(chart, await globalThis.vegaEmbed(chart, specifications.get(chart), options));
}

function showTip(handler, event, item, value) {
  tip.hidden = !value;
  if (!value) return;
  const line = ([name, told]) => make("div", {}, make("span", {}, name), make("b", {}, told));
  tip.replaceChildren(...Object.entries(value).map(line));
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
}

document.addEventListener("themed", () => draw(document));
