// A small agent for tests of the bundles: one call that people must approve.
import { defineAgent, defineTool } from "baton";
import * as z from "zod";

export default defineAgent({
  name: "publisher",
  instructions: "Publish what is asked for.",
  model: { id: "demo" },
  tools: [
    defineTool({
      name: "publish",
      description: "Publishes a text. Cannot be undone.",
      input: z.object({ text: z.string() }),
      effect: "once",
      approval: { approvers: ["editor@press.example"] },
      run: ({ text }) => ({ published: text }),
    }),
  ],
});
