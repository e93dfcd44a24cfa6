// Draws /openapi.json: one section a route, with the fields of what goes in and what comes out.
import { make } from "./dom.js";

const element = (name, text, ...children) => make(name, {}, text || null, ...children);

function resolved(schema, all) {
  while (schema && schema.$ref) schema = all.components.schemas[schema.$ref.split("/").pop()];
  return schema || {};
}

function kind(schema, all) {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map((one) => kind(one, all)).join(" or ");
  if (schema.type === "array") return "array of " + kind(schema.items || {}, all);
  return schema.format || schema.type || "any";
}

function fields(schema, all, seen) {
  const table = element("ul");
  const full = resolved(schema, all);
  for (const [name, field] of Object.entries(full.properties || {})) {
    const needed = (full.required || []).includes(name) ? "" : ", optional";
    const told = field.description ? ". " + field.description : "";
    const row = element("li", "", element("code", name), ": " + kind(field, all) + needed + told);
    const kinds = [field, field.items || {}, ...(field.anyOf || [])].map((one) => one.items || one);
    const inner = kinds.find((one) => one.$ref);
    if (inner && !seen.includes(inner.$ref)) row.append(fields(inner, all, [...seen, inner.$ref]));
    table.append(row);
  }
  return table;
}

function body(title, content, all) {
  const [type, one] = Object.entries(content || {})[0] || [];
  if (!one || !one.schema) return [];
  return [element("p", title + " (" + type + "): " + kind(one.schema, all)), fields(one.schema, all, [])];
}

function route(method, path, told, all) {
  const section = element("details", "", element("summary", "", element("code", method.toUpperCase() + " " + path)));
  for (const line of (told.description || "").split("\n\n")) section.append(element("p", line));
  for (const one of told.parameters || []) {
    section.append(element("p", "Parameter " + one.name + " (" + one.in + "): " + kind(one.schema, all)));
  }
  section.append(...body("Takes", told.requestBody && told.requestBody.content, all));
  const good = Object.entries(told.responses || {}).find(([status]) => status.startsWith("2"));
  if (good) section.append(...body("Answers " + good[0], good[1].content, all));
  return section;
}

fetch("openapi.json").then((answer) => answer.json()).then((all) => {
  document.getElementById("about").textContent = all.info.description;
  for (const [path, methods] of Object.entries(all.paths)) {
    for (const [method, told] of Object.entries(methods)) {
      document.getElementById("routes").append(route(method, path, told, all));
    }
  }
});
