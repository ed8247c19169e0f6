// The demo model plays the flagship by rules: from the tools offered and the conversation so far, nothing kept.
import { describe, expect, it } from "vitest";
import aml from "../../examples/aml-investigator/agent.ts";
import type { Json, JsonObject } from "../../lib/core/json.ts";
import { blocksOf, type DemoMessage, type DemoTool, type MessagesRequest } from "../../lib/demo-model/check-request.ts";
import { replyByRules } from "../../lib/demo-model/rules.ts";

const object = (properties: JsonObject, ...required: string[]): JsonObject => ({
  type: "object",
  properties,
  required,
});
const customerId = { type: "string" };
const tool = (name: string, input_schema: JsonObject): DemoTool => ({ name, input_schema });
const names = { type: "array", items: { type: "string" } };
const tools = [
  tool("fetch_transactions", object({ customerId }, "customerId")),
  tool("screen_sanctions", object({ customerId, names }, "customerId")),
  tool("assess_risk", object({ customerId, note: { type: "string" } }, "customerId")),
  tool("draft_narrative", object({ customerId, riskScore: { type: "integer" } }, "customerId", "riskScore")),
  tool(
    "submit_report",
    object(
      { caseId: { type: "string" }, narrative: { type: "string" }, amountCents: { type: "integer" } },
      "caseId",
      "narrative",
      "amountCents",
    ),
  ),
  tool("update_progress", object({ next: { type: "string" }, constraints: names }, "next")),
  tool("recall", object({ query: { type: "string" } }, "query")),
];
const outputs: { [tool: string]: Json } = {
  fetch_transactions: {
    customerId: "C-1042",
    count: 2,
    transactions: [
      { name: "Ana", amountCents: 100 },
      { name: "Bo", amountCents: 250 },
    ],
  },
  screen_sanctions: { hits: [{ listedName: "B. O." }] },
  assess_risk: { caseId: "AML-7", riskScore: 87, recommendation: "file_report" },
  draft_narrative: { caseId: "AML-7", narrative: "It was seen that …", amountCents: 1234567 },
  submit_report: { receiptId: "R-9", amountCents: 1234567 },
};

type Call = { name: string; input: JsonObject };

/** Plays until the model answers without a call. `answer` may give an Error in place of a result. */
function play(
  ask: string | DemoMessage[],
  answer: (call: Call) => Json | Error = ({ name }) => outputs[name] ?? null,
  given = tools,
) {
  const messages: DemoMessage[] = typeof ask === "string" ? [{ role: "user", content: ask }] : [...ask];
  const calls: Call[] = [];
  for (let round = 0; round < 20; round++) {
    const request: MessagesRequest = { model: "demo", max_tokens: 1000, messages, tools: given };
    const reply = replyByRules(request);
    expect(replyByRules(structuredClone(request))).toEqual(reply);
    const call = reply.calls?.[0];
    if (!call) return { calls, text: reply.text ?? "", messages };
    const id = `t${messages.length}`;
    const made = { name: call.name, input: call.input ?? {} };
    const outcome = answer(made);
    calls.push(made);
    const failed = outcome instanceof Error;
    const content = [{ type: "text", text: failed ? outcome.message : JSON.stringify(outcome) }];
    messages.push({
      role: "assistant",
      content: [
        { type: "text", text: reply.text ?? "" },
        { type: "tool_use", id, ...made },
      ],
    });
    messages.push({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: id, content, ...(failed ? { is_error: true } : {}) }],
    });
  }
  return expect.unreachable("the demo model never answered");
}
const called = (calls: Call[]) => calls.map((call) => call.name);
const order = tools.slice(0, 5).map((one) => one.name);

describe("the demo model, asked to investigate", () => {
  it("calls the tools in the offered order, arguments from earlier results, and ends with real values", () => {
    const { calls, text } = play("Please investigate customer C-1042.");
    expect(calls).toEqual([
      { name: "fetch_transactions", input: { customerId: "C-1042" } },
      { name: "screen_sanctions", input: { customerId: "C-1042", names: ["Ana", "Bo"] } },
      { name: "assess_risk", input: { customerId: "C-1042" } },
      { name: "draft_narrative", input: { customerId: "C-1042", riskScore: 87 } },
      { name: "submit_report", input: { caseId: "AML-7", narrative: "It was seen that …", amountCents: 1234567 } },
    ]);
    expect(text).toContain("The work on C-1042 is finished.");
    expect(text).toContain("risk score 87");
    expect(text).toContain("amount 12,345.67");
    expect(text).toContain("(demo model, rule-based, not an LLM)");
  });

  it("plays the flagship's own tools", async () => {
    const offered = aml.tools.map((one): DemoTool => tool(one.name, one.inputSchema));
    const real = new Map<string, Json>();
    for (const one of aml.tools.slice(0, 4)) {
      const output = await one.run({ customerId: "C-1042" }, { log: () => {}, progress: () => {} } as never);
      real.set(one.name, JSON.parse(JSON.stringify(output)));
    }
    const { calls, text } = play(
      "Investigate customer C-1042",
      ({ name }) => real.get(name) ?? { receiptId: "R-1" },
      offered,
    );
    const draft = real.get("draft_narrative") as JsonObject;
    const filed = calls.at(-1);
    expect(called(calls)).toEqual(order);
    expect(filed?.input).toEqual({ caseId: draft.caseId, narrative: draft.narrative, amountCents: draft.amountCents });
    expect(aml.tools.at(-1)?.input.safeParse(filed?.input).success).toBe(true);
    expect(text).toContain("receipt id R-1");
  });

  it("does not file when the recommendation is another, or the user says so", () => {
    const closing = play("Check C-1042", ({ name }) =>
      name === "assess_risk" ? { riskScore: 3, recommendation: "close" } : (outputs[name] ?? null),
    );
    expect(called(closing.calls)).toEqual(order.slice(0, 4));
    expect(closing.text).toContain("submit_report was left out: the recommendation is close");
    expect(called(play("Investigate C-1042 but do not submit anything").calls)).toEqual(order.slice(0, 4));
  });

  it("stops at a refused filing and says why, without another try", () => {
    const { calls, text } = play("File C-1042", ({ name }) =>
      name === "submit_report" ? new Error("rejected by compliance: too thin") : (outputs[name] ?? null),
    );
    expect(called(calls)).toEqual(order);
    expect(text).toContain("I stopped the work on C-1042: submit_report failed (rejected by compliance: too thin)");
  });

  it("never repeats a filing whose outcome is unknown (H24)", () => {
    const { calls, text } = play("File C-1042", ({ name }) =>
      name === "submit_report" ? new Error("outcome unknown: verify before repeating it") : (outputs[name] ?? null),
    );
    expect(called(calls)).toEqual(order);
    expect(text).toContain("outcome unknown");
  });

  it("tries a reading tool once more after a passing failure, then gives up", () => {
    let failures = 1;
    const flaky = ({ name }: Call) =>
      name === "assess_risk" && failures-- > 0 ? new Error("timed out") : (outputs[name] ?? null);
    expect(called(play("Investigate C-1042", flaky).calls)).toEqual([...order.slice(0, 3), ...order.slice(2)]);
    const dead = play("Investigate C-1042", ({ name }) =>
      name === "assess_risk" ? new Error("timed out") : (outputs[name] ?? null),
    );
    expect(called(dead.calls)).toEqual([...order.slice(0, 3), "assess_risk"]);
    expect(dead.text).toContain("assess_risk failed (timed out)");
  });

  it("goes on where it stood when the user hurries it, and stops when told to", () => {
    const { messages } = play("Investigate C-1042");
    const middle = messages.slice(0, 3);
    const said = (text: string): DemoMessage[] => [
      ...middle.slice(0, 2),
      { role: "user", content: [...blocksOf(middle[2]?.content ?? []), { type: "text", text }] },
    ];
    expect(called(play(said("please hurry up")).calls)).toEqual(order.slice(1));
    expect(called(play(said("stop, never mind")).calls)).toEqual([]);
  });

  it("starts anew for another customer, and follows 'continue' to the last one", () => {
    const { messages, text } = play("Investigate C-1042");
    const done: DemoMessage[] = [...messages, { role: "assistant", content: text }];
    expect(play([...done, { role: "user", content: "Now check C-2001" }]).calls[0]).toEqual({
      name: "fetch_transactions",
      input: { customerId: "C-2001" },
    });
    expect(play([...done, { role: "user", content: "continue" }]).calls).toEqual([]);
  });

  it("reads its task from the carried state after a resume and repeats no filing", () => {
    const carried = [
      "[data begins: handoff record: state of the work]",
      "| # Session resumed",
      "| Task:",
      "| - Investigate customer C-1042",
      "| Already executed, do not repeat:",
      "| - submit_report AML-2026-1042 — done [turn 1]",
      "[data ends]",
    ].join("\n");
    const { calls, text } = play(carried);
    expect(called(calls)).toEqual(order.slice(0, 4));
    expect(text).toContain("submit_report had already been done before");
    expect(called(play(`${carried}\nInvestigate customer C-2002`).calls)).toEqual(order);
  });

  it("names what it could not call for want of an argument", () => {
    const odd = [...tools.slice(0, 1), tool("freeze", object({ branch: { type: "integer" } }, "branch"))];
    const { calls, text } = play("Investigate C-1042", undefined, odd);
    expect(called(calls)).toEqual(["fetch_transactions"]);
    expect(text).toContain("freeze could not be called: nothing is known for branch");
  });
});

describe("the demo model, asked anything else", () => {
  it("says what it is and calls nothing", () => {
    const { calls, text } = play("What is the weather like?");
    expect(calls).toEqual([]);
    expect(text).toMatch(/rule-based stand-in, not an LLM/);
  });

  it("answers a question about a value that stands in the results", () => {
    const { messages } = play("Investigate C-1042");
    const asked: DemoMessage[] = [
      ...messages,
      { role: "assistant", content: "done" },
      { role: "user", content: "What was the risk score again?" },
    ];
    expect(play(asked).text).toContain("risk score 87");
  });

  it("uses update_progress and recall only when asked", () => {
    const noted = play("Remember: never mail customers", () => ({ ok: true }));
    expect(noted.calls).toEqual([
      {
        name: "update_progress",
        input: { next: "Remember: never mail customers", constraints: ["Remember: never mail customers"] },
      },
    ]);
    expect(noted.text).toContain("Noted.");
    expect(play("Recall what I said about mail", () => "you said: never").text).toContain("never");
  });
});

describe("the demo model without tools", () => {
  const write = (prompt: string, system = "") =>
    replyByRules({ model: "demo", max_tokens: 1000, system, messages: [{ role: "user", content: prompt }] }).text ?? "";
  const transcript = Array.from(
    { length: 60 },
    (_, i) => `user: message ${i} about case ${i}, amountCents: ${i * 100}`,
  ).join("\n");

  it("summarises to less than half of what it was given", () => {
    const text = write(transcript, "Summarise the conversation.");
    expect(text.length).toBeLessThan(transcript.length / 2);
    expect(text).toContain("message 0");
    expect(text).toContain("message 59");
  });

  it("writes a narrative from the facts of the prompt, and says what it is", () => {
    const text = write('Write the opinion on C-1042.\n{"riskScore": 87, "level": "high"}');
    expect(text).toContain("Regarding C-1042");
    expect(text).toContain("riskScore 87");
    expect(text).toContain("not an LLM");
  });

  it("answers an empty JSON value where only JSON is asked for", () => {
    expect(write("Extract facts. Answer only with a JSON array.")).toBe("[]");
    expect(write("Respond in JSON only, an object.")).toBe("{}");
  });
});
