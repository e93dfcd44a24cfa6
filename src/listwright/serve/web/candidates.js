// Candidates as text: a table with a line of names, separated by commas, semicolons or tabs; or JSON.
import { Refused } from "./api.js";

const OTHER = ["size", "catalogue"];

/** Items as the service takes them; names are the model's, or null where it knows none. */
export function readItems(text, names) {
  if (text.trim().startsWith("[")) return readJson(text);
  const numbered = text.split(/\r?\n/).map((line, i) => ({ line, at: i + 1 }));
  const [first, ...lines] = numbered.filter(({ line }) => line.trim());
  if (!lines.length) throw new Refused("Candidates: give a line of names, and a line for each candidate.");
  const separator = ["\t", ";", ","].find((one) => first.line.includes(one)) ?? ",";
  const columns = cells(first.line, separator);
  if (!columns.includes("id")) throw new Refused("Candidates: the first line must name the columns, one of them id.");
  return lines.map(({ line, at }) => readItem(cells(line, separator), columns, names, at));
}

function readJson(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Refused(`Candidates: this is not valid JSON. ${error.message}`);
  }
}

/** The cells of a line; one in quotes may hold the separator. */
function cells(line, separator) {
  const found = [""];
  let quoted = false;
  for (const letter of line) {
    if (letter === '"') quoted = !quoted;
    else if (letter === separator && !quoted) found.push("");
    else found[found.length - 1] += letter;
  }
  return found.map((cell) => cell.trim());
}

function readItem(values, columns, names, at) {
  const where = `Candidates, line ${at}:`;
  if (values.length !== columns.length) {
    throw new Refused(`${where} there are ${columns.length} columns, but ${values.length} values.`);
  }
  const item = { id: values[columns.indexOf("id")] };
  const features = [];
  columns.forEach((column, i) => {
    if (column === "id") return;
    const value = numberOf(values[i]);
    if (!Number.isFinite(value)) throw new Refused(`${where} ${column} must be a number. Got "${values[i]}".`);
    if (OTHER.includes(column) && !names?.includes(column)) item[column] = value;
    else features.push([column, value]);
  });
  return { ...item, features: names ? Object.fromEntries(features) : features.map(([, value]) => value) };
}

/** NaN, not 0, where there is nothing. */
export const numberOf = (text) => (text.trim() === "" ? NaN : Number(text));

/** A table as text, with its columns below each other. */
export function writeTable(columns, rows) {
  const quoted = (cell) => (/[,;\t]/.test(cell) ? `"${cell}"` : String(cell));
  const lines = [columns, ...rows].map((line) => line.map(quoted));
  const widths = columns.map((_, i) => 2 + Math.max(...lines.map((line) => line[i].length)));
  const cell = (text, i) => (i < columns.length - 1 ? `${text},`.padEnd(widths[i]) : text);
  return lines.map((line) => line.map(cell).join("")).join("\n");
}
