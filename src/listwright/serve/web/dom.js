// Elements from data, always as text, never as HTML.

/** An element; `on...` attributes are listeners, false and null ones are left out, true ones are empty. */
export function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value != null) made.setAttribute(key, value === true ? "" : value);
  }
  const there = children.flat().filter((child) => child != null);
  made.append(...there.map((child) => (child instanceof Node ? child : String(child))));
  return made;
}

export const link = (href, text, attributes) => make("a", { href, ...attributes }, text);

export const button = (text, onclick, kind) => make("button", { type: "button", class: kind, onclick }, text);

export const faint = (text) => make("p", { class: "faint" }, text);

/** An id, or whatever else is written by machines and may be long; it cannot turn the text around it. */
export const id = (text, kind = "") => make("bdi", { class: `id ${kind}` }, visible(text));

/** Characters that are not seen, or that change the direction of others, written out. */
export const visible = (text) =>
  String(text).replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]/gu, (one) => `\\u{${one.codePointAt(0).toString(16)}}`);

/** A short word: "good", "bad", "warn" or plain. */
export const badge = (text, kind = "") => make("span", { class: `badge ${kind}` }, text);

/** A part of a view. */
export const card = (title, ...children) => make("section", { class: "card" }, make("h2", {}, title), ...children);

/** A text that stands out: "good", "bad" or "plain". */
export function note(kind, ...children) {
  return make("div", { class: `note ${kind}`, role: kind === "bad" ? "alert" : null }, ...children);
}

/** Links of which one is where we are. */
export function choice(label, options, before) {
  const links = options.map(([href, text, here]) => link(href, text, { "aria-current": here ? "true" : null }));
  return make("nav", { class: "choice", "aria-label": label }, before, links);
}

/** A table; a column is [title, cell of a row, class]. It scrolls where it is too wide, by keyboard too. */
export function table(caption, columns, rows) {
  const head = columns.map(([title, , kind]) => make("th", { scope: "col", class: kind }, title));
  const line = (row) => columns.map(([, cell, kind]) => make("td", { class: kind }, cell(row)));
  const made = make(
    "table",
    {},
    make("caption", { class: "unseen" }, caption),
    make("thead", {}, make("tr", {}, head)),
    make("tbody", {}, rows.map((row) => make("tr", {}, line(row)))),
  );
  return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, made);
}

/** Names and values, one below the other; those without a value are left out. */
export function facts(pairs) {
  const known = pairs.filter(([, value]) => value != null);
  const lines = known.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)));
  return make("dl", { class: "facts" }, lines);
}

/** Said to those who listen instead of look. */
export function tell(text) {
  document.getElementById("told").textContent = text;
}
