// The deployed agent, or several: bundling.ts binds this name to the entry that the construct is given.
declare module "#agent" {
  import type { Agent } from "baton";

  const agents: Agent | readonly Agent[];
  export default agents;
}
