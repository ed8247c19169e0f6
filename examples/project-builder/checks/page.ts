// The home page is a whole page.
import { expect, read } from "./site.ts";

const html = read("index.html");
expect({
  "index.html begins with a doctype": /^\s*<!doctype html>/i.test(html),
  "index.html says its language": /<html[^>]*\blang="[a-z-]+"/i.test(html),
  "index.html has a title": /<title>[^<]*\S[^<]*<\/title>/i.test(html),
  "index.html has exactly one h1": html.match(/<h1[\s>]/gi)?.length === 1,
  "index.html has a paragraph": /<p[^>]*>[^<]*\S/i.test(html),
});
