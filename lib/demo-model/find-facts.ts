// The demo model's answer to the question of long-term memory: sentences in which the user speaks of themselves.
import { extractionOpening } from "../core/memory/extraction.ts";
import { blocksOf, type MessagesRequest } from "./check-request.ts";

const lasting =
  /^(please )?(remember|note that|keep in mind|always|never)\b|\b(i('m| am)|i (live|work|prefer|like|love|hate|need|have|eat|speak)|my \S+ (is|are)|call me)\b|记住|我(是|住|喜欢|叫)/i;

/** Null for any other question. */
export function findFacts(request: MessagesRequest): string | null {
  const system = blocksOf(request.system ?? []).map(({ text }) => String(text));
  if (!system[0]?.startsWith(extractionOpening)) return null;
  const asked = request.messages.flatMap(({ content }) => blocksOf(content).map(({ text }) => String(text))).join("\n");
  const own = asked.split("[data begins: sentences that the user wrote]")[1]?.split("[data ends]")[0] ?? "";
  const facts = [...own.matchAll(/^\| (\d+)\. (.*)$/gm)].flatMap(([, number, sentence = ""]) =>
    lasting.test(sentence) && !/[?？]$/.test(sentence)
      ? [
          {
            sentences: [Number(number)],
            kind: /prefer|like|always|never|喜欢/i.test(sentence) ? "preference" : "profile",
          },
        ]
      : [],
  );
  return JSON.stringify({ facts: facts.slice(0, 10) });
}
