// The workload's agent as a module for BATON_AGENT.
import { benchAgent } from "./workload.ts";

export default benchAgent();
