// The data stand in a form that a page can be made of.
import { entries, expect } from "./site.ts";

const found = entries();
expect({
  "data.json has at least three entries": found.length >= 3,
  "data.json has no name twice": new Set(found.map(({ name }) => name)).size === found.length,
});
