// A small agent with a memory, for tests of the bundles.
import { defineAgent } from "baton";

export default defineAgent({
  name: "rememberer",
  instructions: "Talk.",
  model: { id: "demo" },
  memory: { enabled: true },
});
