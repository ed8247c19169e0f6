// A very long tool result is shown as head, tail and reference. The whole stays in the log, where `recall` finds it.
import type { ResultBlock, TextBlock } from "../content.ts";
import { estimateTokens } from "../estimate.ts";

/** The result unchanged when it has at most `maxTokens`; else each long text shortened to its head and tail. */
export function stubResult(result: ResultBlock, options: { maxTokens: number; version: number }): ResultBlock {
  const size = estimateTokens({ role: "user", content: [result] });
  if (size <= options.maxTokens) return result;
  const texts = result.content.filter((block): block is TextBlock => block.type === "text");
  const images = result.content.filter((block) => block.type === "image");
  const whole = texts.map((block) => block.text).join("\n");
  const dropped: TextBlock[] =
    images.length > 0 ? [{ type: "text", text: `[${images.length} image(s) left out]` }] : [];
  return {
    ...result,
    content: [{ type: "text", text: stubText(whole, options) }, ...dropped],
  };
}

/** Head, a line that says what is missing, tail: together about `maxTokens`. Characters are never cut in half. */
export function stubText(text: string, options: { maxTokens: number; version?: number }): string {
  const tokens = estimateTokens(text);
  if (tokens <= options.maxTokens) return text;
  const keep = Math.max(0, Math.floor((text.length * (options.maxTokens - 40) * 0.9) / tokens));
  const head = cutAt(text, Math.floor(keep * 0.7));
  const tail = text.length - cutAt(text, text.length - (keep - Math.floor(keep * 0.7)));
  const where = options.version === undefined ? "" : ` at version ${options.version} of the log`;
  const missing = text.length - head - tail;
  return `${text.slice(0, head)}\n[… ${missing} of ${text.length} characters left out; the whole text is kept${where} …]\n${text.slice(text.length - tail)}`;
}

/** `index`, or one less when it would part a surrogate pair. */
function cutAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff ? index - 1 : index;
}
