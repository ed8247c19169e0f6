// Texts by how well they fit a query. The ranking is minisearch's (BM25+); the index lives as long as the question.
import MiniSearch from "minisearch";

/** Indexes of the texts in which a word of `query` occurs, best first. */
export function rankTexts(texts: readonly string[], query: string): number[] {
  const index = new MiniSearch<{ id: number; text: string }>({ fields: ["text"], tokenize });
  index.addAll(texts.map((text, id) => ({ id, text })));
  const found = index.search(query, {
    prefix: (term) => term.length > 3,
    fuzzy: (term) => (term.length > 5 && !/\d/.test(term) ? 0.2 : false),
    combineWith: "OR",
  });
  return found.map(({ id }) => id as number);
}

/** Words as Unicode has them; scripts that write without spaces are cut into words by their language's rules. */
function tokenize(text: string): string[] {
  const words = text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words.flatMap((word) =>
    withoutSpaces.test(word)
      ? [...segmenter.segment(word)].flatMap(({ segment, isWordLike }) => (isWordLike ? [segment] : []))
      : [word],
  );
}

const withoutSpaces =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}]/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
