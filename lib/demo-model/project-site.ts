// The files that the demo model writes in a project: a tiny site about whatever the user named. Templates, no judgement.
import { disclaimer } from "./write-text.ts";

export type SiteFile = { path: string; text: string };

/** The features of the site in the order in which they are built, each with the check that the example ships. */
export function siteFeatures(topic: string) {
  const about = `about "${topic}"`;
  const feature = (id: string, category: string, description: string, steps: string[], check = id) => {
    return { id, category, description, steps, check: "run_check", checkInput: { name: check } };
  };
  return [
    feature("page", "content", `A home page ${about}`, ["Open index.html", "Read the heading and the paragraph"]),
    feature("style", "design", `A style sheet for the site ${about}`, [
      "Open index.html",
      "The text is no wider than a book",
    ]),
    feature("data", "content", `Three things worth knowing ${about}, as data`, ["Open data.json", "Count the entries"]),
    feature("list", "content", `A page that shows the data ${about}`, [
      "Open data.html",
      "Find each entry of data.json",
    ]),
    feature("links", "navigation", `Every page ${about} leads to every other`, [
      "Open index.html",
      "Go to the list and back",
    ]),
  ];
}

/** What the initializer leaves beside the plan. */
export function planFiles(topic: string): SiteFile[] {
  const lines = siteFeatures(topic).map(({ id, description }) => `- [ ] ${id}: ${description}`);
  return [
    {
      path: "init.sh",
      text: "#!/bin/sh\n# Shows the site on http://127.0.0.1:8000\nexec python3 -m http.server 8000 --bind 127.0.0.1\n",
    },
    { path: "progress.md", text: `# A site about ${topic}\n\n${lines.join("\n")}\n` },
  ];
}

/** The files of one feature; none for one that is not known. */
export function featureFiles(id: string, topic: string): SiteFile[] {
  switch (id) {
    case "page":
      return [{ path: "index.html", text: homePage(topic, []) }];
    case "style":
      return [
        {
          path: "style.css",
          text: "body {\n  font-family: Georgia, serif;\n  line-height: 1.5;\n  margin: 2rem auto;\n  max-width: 40rem;\n}\n",
        },
        { path: "index.html", text: homePage(topic, []) },
      ];
    case "data":
      return [{ path: "data.json", text: `${JSON.stringify(entriesAbout(topic), null, 2)}\n` }];
    case "list":
      return [{ path: "data.html", text: listPage(topic, []) }];
    case "links":
      return [
        { path: "index.html", text: homePage(topic, ["data.html"]) },
        { path: "data.html", text: listPage(topic, ["index.html"]) },
      ];
    default:
      return [];
  }
}

function entriesAbout(topic: string) {
  return [
    { name: "The word", text: `People who speak of ${topic} mostly mean what they themselves like about it.` },
    { name: "The start", text: `Whoever is new to ${topic} begins with one small thing, and does it well.` },
    { name: "The limit", text: `This text on ${topic} was written by rules; it knows nothing. ${disclaimer}` },
  ];
}

function homePage(topic: string, links: string[]): string {
  const body = [`<h1>${escapeHtml(topic)}</h1>`, `<p>A small site about ${escapeHtml(topic)}.</p>`];
  return page(topic, [...body, ...nav(links)]);
}

function listPage(topic: string, links: string[]): string {
  const items = entriesAbout(topic).flatMap(({ name, text }) => [
    `<dt>${escapeHtml(name)}</dt>`,
    `<dd>${escapeHtml(text)}</dd>`,
  ]);
  return page(`${topic}: what to know`, [
    `<h1>${escapeHtml(topic)}: what to know</h1>`,
    "<dl>",
    ...items,
    "</dl>",
    ...nav(links),
  ]);
}

function page(title: string, body: string[]): string {
  return [
    "<!doctype html>",
    '<html lang="en">',
    `<head><meta charset="utf-8"><title>${escapeHtml(title)}</title><link rel="stylesheet" href="style.css"></head>`,
    "<body>",
    ...body,
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

function nav(links: string[]): string[] {
  return links.length === 0 ? [] : [`<nav>${links.map((link) => `<a href="${link}">${link}</a>`).join(" ")}</nav>`];
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
