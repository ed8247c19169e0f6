// Calls and results: each call gets exactly one result, in the very next user message, in call order,
// before anything else there; each call id is valid and unique.
import type { CallBlock, ResultBlock } from "../content.ts";
import type { Draft } from "./alternate.ts";
import { callIdPattern } from "./validate-messages.ts";

/** What the model is told of a call whose outcome is not known. */
export const outcomeUnknown = "outcome unknown: the call was interrupted; verify before repeating it";

type Asked = { call: CallBlock; at: number; answer: ResultBlock | null };
type Given = { result: ResultBlock; at: number; used: boolean };

/** `draft` must alternate. A result that fits no call before it is left out. */
export function pairCalls(draft: readonly Draft[], repairs: string[]): Draft[] {
  const asked = draft.flatMap((message, at): Asked[] =>
    message.role === "assistant"
      ? message.content.flatMap((call) => (call.type === "call" ? [{ call, at, answer: null }] : []))
      : [],
  );
  const given = draft.flatMap((message, at): Given[] =>
    message.role === "user"
      ? message.content.flatMap((result) => (result.type === "result" ? [{ result, at, used: false }] : []))
      : [],
  );
  match(draft, asked, given, repairs);
  const ids = giveIds(draft, asked, repairs);
  return rebuild(draft, asked, ids, repairs);
}

/** First the pairs that stand where they belong, so that no valid pair is torn; then strays, oldest first. */
function match(draft: readonly Draft[], asked: Asked[], given: Given[], repairs: string[]): void {
  const byId = Map.groupBy(given, (one) => one.result.callId);
  const take = (call: Asked, fits: (one: Given) => boolean): boolean => {
    const found = byId.get(call.call.id)?.find((one) => !one.used && fits(one));
    if (!found) return false;
    found.used = true;
    call.answer = found.result;
    return true;
  };
  const strays = asked.filter((call) => !take(call, (one) => one.at === call.at + 1));
  for (const call of strays) {
    const moved = take(call, (one) => one.at > call.at);
    repairs.push(
      `message ${draft[call.at]?.from}: ${moved ? "moved a later result to its call" : "a call had no result; said so"}`,
    );
  }
  for (const one of given) {
    if (!one.used) repairs.push(`message ${draft[one.at]?.from}: left out a result that fits no call before it`);
  }
}

/** A valid id stays with its first holder; every other call gets a new one, the same on every run. */
function giveIds(draft: readonly Draft[], asked: Asked[], repairs: string[]): Map<CallBlock, string> {
  const reserved = new Set(asked.map(({ call }) => call.id).filter((id) => callIdPattern.test(id)));
  const held = new Set<string>();
  const counters = new Map<string, number>();
  const fresh = (id: string): string => {
    const base = id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 52) || "call";
    for (let n = counters.get(base) ?? 1; ; n++) {
      const candidate = n === 1 ? base : `${base}_${n}`;
      if (reserved.has(candidate) || held.has(candidate)) continue;
      counters.set(base, n + 1);
      return candidate;
    }
  };
  const ids = new Map<CallBlock, string>();
  for (const { call, at } of asked) {
    const keeps = callIdPattern.test(call.id) && !held.has(call.id);
    const id = keeps ? call.id : fresh(call.id);
    held.add(id);
    ids.set(call, id);
    if (!keeps) repairs.push(`message ${draft[at]?.from}: gave a call the new id ${id}`);
  }
  return ids;
}

function rebuild(
  draft: readonly Draft[],
  asked: readonly Asked[],
  ids: Map<CallBlock, string>,
  repairs: string[],
): Draft[] {
  const byMessage = Map.groupBy(asked, (call) => call.at);
  return draft.flatMap((message, at): Draft[] => {
    if (message.role === "user") {
      const answers = byMessage.get(at - 1) ?? [];
      const content = [...answers.map((call) => resultFor(call, ids)), ...message.content.filter(isInput)];
      noteOrder(message, answers, repairs);
      return [{ ...message, content }];
    }
    const content = message.content.map((block) =>
      block.type === "call" ? withId(block, ids.get(block) ?? block.id) : block,
    );
    const answers = byMessage.get(at);
    if (!answers || draft[at + 1]) return [{ ...message, content }];
    const results: Draft = { from: -1, role: "user", content: answers.map((call) => resultFor(call, ids)) };
    return [{ ...message, content }, results];
  });
}

function resultFor({ call, answer }: Asked, ids: Map<CallBlock, string>): ResultBlock {
  const callId = ids.get(call) ?? call.id;
  if (!answer) return { type: "result", callId, content: [{ type: "text", text: outcomeUnknown }], isError: true };
  return answer.callId === callId ? answer : { ...answer, callId };
}

function withId(call: CallBlock, id: string): CallBlock {
  return call.id === id ? call : { ...call, id };
}

function isInput<T extends { type: string }>(block: T): block is Exclude<T, ResultBlock> {
  return block.type !== "result";
}

/** Says so when blocks that stay in this message change places. */
function noteOrder(message: Draft & { role: "user" }, answers: readonly Asked[], repairs: string[]): void {
  const after = answers.flatMap(({ answer }) => (answer && message.content.includes(answer) ? [answer] : []));
  const before = message.content.filter((block) => isInput(block) || after.includes(block));
  const wanted = [...after, ...message.content.filter(isInput)];
  if (before.some((block, i) => block !== wanted[i])) {
    repairs.push(`message ${message.from}: put results first, in call order`);
  }
}
