// The style sheet is there, is the site's own, and is used.
import { expect, links, read } from "./site.ts";

const css = read("style.css");
expect({
  "style.css has a rule for body": /\bbody\s*\{[^}]*\S[^}]*\}/.test(css),
  "style.css bounds the width of text (max-width)": /\bmax-width\s*:/.test(css),
  "style.css loads nothing from elsewhere": !/@import|https?:|url\(/i.test(css),
  "style.css has as many { as }": css.split("{").length === css.split("}").length,
  "index.html uses style.css": links(read("index.html")).includes("style.css"),
});
