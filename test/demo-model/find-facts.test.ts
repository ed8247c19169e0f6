import { describe, expect, it } from "vitest";
import { extractionRequest } from "../../lib/core/memory/extraction.ts";
import type { MessagesRequest } from "../../lib/demo-model/check-request.ts";
import { replyByRules } from "../../lib/demo-model/rules.ts";

describe("the demo model, asked for facts", () => {
  it("names the sentences in which the user speaks of themselves, and no question", () => {
    const { system, messages, maxTokens } = extractionRequest(
      ["I live in Berlin.", "Do I like it?", "Check C-1042.", "Remember: reports in German."],
      [],
    );
    const request = { model: "demo", max_tokens: maxTokens, system, messages } as unknown as MessagesRequest;
    const { text = "" } = replyByRules(request) as { text?: string };
    expect(JSON.parse(text)).toEqual({
      facts: [
        { sentences: [1], kind: "profile" },
        { sentences: [4], kind: "profile" },
      ],
    });
  });
});
