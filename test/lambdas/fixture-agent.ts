// A small agent for tests of the bundles: one tool whose outcome is too large for an item.
import { defineAgent, defineTool } from "baton";
import { z } from "zod";

export default defineAgent({
  name: "librarian",
  instructions: "Answer from the book.",
  model: { id: "demo" },
  tools: [
    defineTool({
      name: "read_book",
      description: "Reads a chapter.",
      input: z.object({ chapter: z.int() }),
      effect: "idempotent",
      // Random enough that gzip does not make it small.
      run: async ({ chapter }) =>
        Array.from({ length: 20_000 }, (_, n) => ((n + chapter) * 2654435761) >>> 0)
          .join(" ")
          .slice(0, 120_000),
    }),
  ],
});
