// The data page shows all of the data.
import { entries, escapeHtml, expect, links, read } from "./site.ts";

const html = read("data.html");
const missing = entries().filter(
  ({ name, text }) => !html.includes(escapeHtml(name)) || !html.includes(escapeHtml(text)),
);
expect({
  "data.html begins with a doctype": /^\s*<!doctype html>/i.test(html),
  "data.html uses style.css": links(html).includes("style.css"),
  [`data.html shows every entry (missing: ${missing.map(({ name }) => name).join(", ") || "none"})`]:
    missing.length === 0,
});
