// A small agent whose memory compares by meaning, for tests of the bundles.
import { defineAgent } from "baton";

export default defineAgent({
  name: "rememberer",
  instructions: "Talk.",
  model: { id: "demo" },
  memory: { enabled: true, similarity: "embeddings" },
});
