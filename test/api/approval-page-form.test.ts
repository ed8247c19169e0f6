import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { maxCommentCharacters, parseDecisionForm } from "../../lib/api/approval-page/decision-form.ts";
import { editForm } from "../../lib/api/approval-page/edit-form.ts";
import { fieldsOf } from "../../lib/api/approval-page/fields.ts";
import type { JsonObject } from "../../lib/core/json.ts";

const schema = z.toJSONSchema(
  z.object({
    caseId: z.string(),
    narrative: z.string().max(5000),
    amountCents: z.int(),
    score: z.number().optional(),
    urgent: z.boolean(),
    channel: z.enum(["post", "portal"]),
    level: z.union([z.literal(1), z.literal(2)]).optional(),
    parties: z.array(z.object({ name: z.string() })),
    note: z.string().optional(),
    contact: z.string().nullable(),
  }),
) as JsonObject;
const input: JsonObject = {
  caseId: "A-1",
  narrative: "\nfirst line empty\r\nשלום",
  amountCents: 100,
  urgent: false,
  channel: "post",
  parties: [{ name: "王小明" }],
  contact: null,
};

/** The form as a browser sends it: every control as shown, text with CRLF, and the button. */
function sent(changes: Record<string, string> = {}, of: JsonObject = input, by: JsonObject = schema): FormData {
  const form = controlsOf(String(editForm({ schema: by, input: of, pageNonce: "n1" })));
  for (const [name, value] of Object.entries(changes)) form.set(name, value);
  form.set("do", "change");
  return form;
}

function controlsOf(page: string): FormData {
  const form = new FormData();
  const text = (escaped = "") =>
    escaped.replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => {
      return { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" }[name] ?? "";
    });
  const name = (tag = "") => text(/ name="([^"]*)"/.exec(tag)?.[1]);
  for (const [tag] of page.matchAll(/<input [^>]*>/g)) form.append(name(tag), text(/ value="([^"]*)"/.exec(tag)?.[1]));
  for (const [, tag, body] of page.matchAll(/<textarea([^>]*)>\n([^<]*)<\/textarea>/g)) {
    form.append(name(tag), text(body).replaceAll("\n", "\r\n"));
  }
  for (const [, tag, body] of page.matchAll(/<select([^>]*)>(.*?)<\/select>/gs)) {
    const chosen = /value="([^"]*)" selected/.exec(body ?? "") ?? /value="([^"]*)"/.exec(body ?? "");
    form.append(name(tag), text(chosen?.[1]));
  }
  return form;
}

describe("fieldsOf", () => {
  it("has a control for each kind of property, and JSON for the rest", () => {
    const kinds = Object.fromEntries(fieldsOf(schema, input).map((field) => [field.name, field.kind]));
    expect(kinds).toEqual({
      caseId: "text",
      narrative: "lines",
      amountCents: "integer",
      score: "number",
      urgent: "boolean",
      channel: "choice",
      level: "json",
      parties: "json",
      note: "text",
      contact: "json",
    });
  });

  it("edits text that a form would not send back, and odd names, with escapes", () => {
    const one = fieldsOf(schema, { ...input, caseId: "a\u202Eb" }).find((field) => field.name === "caseId");
    expect([one?.kind, one?.text]).toEqual(["json", '"a\\u202eb"']);
    expect(fieldsOf({}, { "a\nb": 1 })).toMatchObject([{ name: null, kind: "json" }]);
  });
});

describe("parseDecisionForm", () => {
  it("gives back exactly the arguments that nobody touched, by schema or without", () => {
    const hostile = fc.string({
      unit: fc.constantFrom(
        "<",
        '"',
        "&",
        "'",
        "\n",
        "\r\n",
        "\r",
        " ",
        "\u202E",
        "\u0000",
        "ש",
        "a",
        "&amp;",
        "</textarea>",
      ),
    });
    const json = fc.jsonValue({ noUnicodeString: false }).map((value) => JSON.parse(JSON.stringify(value)));
    const value = fc.oneof(hostile, json);
    const others = fc.dictionary(hostile, value, { maxKeys: 3 });
    const known = fc.record(
      { caseId: value, narrative: value, amountCents: value, urgent: value, channel: value, parties: value },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(known, others, fc.boolean(), (some, more, typed) => {
        const of = { ...more, ...some } as JsonObject;
        const by = typed ? schema : {};
        const form = sent({}, of, by);
        const parsed = parseDecisionForm(form, by, of);
        expect(parsed).toMatchObject({ kind: "change", nonce: "n1" });
        expect("input" in parsed && parsed.input).toEqual(of);
      }),
      { numRuns: 300 },
    );
  });

  it("converts what was changed to the types of the schema", () => {
    const form = sent({
      "arg.caseId": " A-2 ",
      "arg.narrative": "one\r\ntwo",
      "arg.amountCents": " 250 ",
      "arg.score": "0.5",
      "arg.urgent": "true",
      "arg.channel": '"portal"',
      "arg.level": "2",
      "arg.parties": '[{"name":"B"}]',
      "arg.note": "new",
      "arg.contact": '"x"',
    });
    expect(parseDecisionForm(form, schema, input)).toEqual({
      kind: "change",
      nonce: "n1",
      input: {
        caseId: " A-2 ",
        narrative: "one\ntwo",
        amountCents: 250,
        score: 0.5,
        urgent: true,
        channel: "portal",
        level: 2,
        parties: [{ name: "B" }],
        note: "new",
        contact: "x",
      },
    });
  });

  it("drops an optional property that was cleared and keeps a cleared text as empty", () => {
    const of = { ...input, score: 3 };
    const form = sent({ "arg.score": "", "arg.caseId": "" }, of);
    expect(parseDecisionForm(form, schema, of)).toEqual({
      kind: "change",
      nonce: "n1",
      input: { ...input, caseId: "" },
    });
  });

  const faults: [string, string, string][] = [
    ["amountCents", "12.5", "write a whole number, without a fraction"],
    ["amountCents", "1,000", "write a whole number, as in 1500"],
    ["amountCents", "0x10", "write a whole number, as in 1500"],
    ["amountCents", "9007199254740993", "this number is too large to be kept exactly"],
    ["amountCents", "", "this is required"],
    ["score", "much", "write a number, as in 1500.25"],
    ["urgent", "maybe", "choose yes or no"],
    ["channel", '"fax"', "choose one of the list"],
    ["parties", "[{]", "this is not valid JSON"],
  ];
  for (const [name, text, message] of faults) {
    it(`says at ${name} that ${JSON.stringify(text)} will not do`, () => {
      const parsed = parseDecisionForm(sent({ [`arg.${name}`]: text }), schema, input);
      expect(parsed).toMatchObject({ kind: "faulty", errors: [{ path: name, message }] });
      expect("submitted" in parsed && parsed.submitted[`arg.${name}`]).toBe(text);
    });
  }

  it("refuses a key that would reach an object's prototype", () => {
    const parsed = parseDecisionForm(sent({ "arg.parties": '[{"__proto__":{"x":1}}]' }), schema, input);
    expect(parsed).toMatchObject({ kind: "faulty", errors: [{ path: "parties" }] });
  });

  for (const decision of ["approve", "reject", "happened", "not_happened", "give_up"] as const) {
    it(`hears the button ${decision}, with the comment`, () => {
      const form = new FormData();
      for (const [name, value] of [
        ["nonce", "n1"],
        ["comment", " ok\r\nfine "],
        ["do", decision],
      ] as const)
        form.set(name, value);
      expect(parseDecisionForm(form, schema, input)).toEqual({
        kind: "decide",
        decision,
        nonce: "n1",
        comment: "ok\nfine",
      });
    });
  }

  it("takes confirmed changes and the mailed code", () => {
    const form = new FormData();
    form.set("nonce", "n2");
    form.set("do", "approve");
    form.set("edit", '{"caseId":"A-2"}');
    form.set("code", " 483 920 ");
    expect(parseDecisionForm(form, schema, input)).toEqual({
      kind: "decide",
      decision: "approve",
      nonce: "n2",
      edit: { caseId: "A-2" },
      code: "483920",
    });
  });

  it("decides nothing without exactly one button of ours (G8)", () => {
    const none = new FormData();
    const two = new FormData();
    two.append("do", "approve");
    two.append("do", "reject");
    const odd = new FormData();
    odd.set("do", "APPROVE");
    const file = new FormData();
    file.set("do", new Blob(["approve"]));
    for (const form of [none, two, odd, file]) {
      expect(parseDecisionForm(form, schema, input)).toMatchObject({ kind: "unclear" });
    }
  });

  it("refuses damaged changes and endless comments", () => {
    for (const edit of ["{", "[]", "null", ""]) {
      const form = new FormData();
      form.set("do", "approve");
      form.set("edit", edit);
      expect(parseDecisionForm(form, schema, input)).toMatchObject({ kind: "unclear" });
    }
    const long = new FormData();
    long.set("do", "reject");
    long.set("comment", "x".repeat(maxCommentCharacters + 1));
    expect(parseDecisionForm(long, schema, input)).toMatchObject({ kind: "unclear" });
  });
});
