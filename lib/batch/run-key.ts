// A run is a session of its own, so that runs do not read each other's context; its key says which slot it is for.
export type RunKey = { agent: string; task: string; slot: string };

/** `agent:<agent>:task:<task>:<slot>`; none of the parts has a colon. */
export function runKey({ agent, task, slot }: RunKey): string {
  return `agent:${agent}:task:${task}:${slot}`;
}

/** null for the key of any other session. */
export function parseRunKey(key: string): RunKey | null {
  const match = /^agent:([a-z0-9-]+):task:([a-z0-9-]+):([\w-]+)$/.exec(key);
  const [, agent, task, slot] = match ?? [];
  return agent && task && slot ? { agent, task, slot } : null;
}
