// Other systems on the same workload and machine class. These numbers are quoted from when Baton was designed; they
// are not measured by this benchmark, and each system may have changed since.

export type Peer = { name: string; msPerRound: string; note: string };

export const peers: readonly Peer[] = [
  { name: "Restate", msPerRound: "3.6–5.3", note: "" },
  { name: "AWS durable functions, local runner", msPerRound: "3.9", note: "in memory" },
  { name: "LangGraph on SQLite", msPerRound: "15 at N = 100, 104 at N = 1,000", note: "7 MB written per round" },
  { name: "LangGraph on DynamoDB", msPerRound: "50", note: "fails at round 116" },
];
