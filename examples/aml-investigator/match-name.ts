// How alike are two names? Spelling, script, transliteration scheme and order of the parts may differ; two
// different people who share one common name must stay apart. Scores are whole points, 0 to 100.
import { distance } from "fastest-levenshtein";
import { type Script, scriptOf, toLatin } from "./transliterate.ts";

export type NameMatch = {
  score: number;
  /** Why the names count as alike, for the person who has to judge the hit. */
  reasons: string[];
};

/** A name made ready once, so that a list is not prepared again for every comparison. */
export type PreparedName = { original: string; script: Script; tokens: Token[] };

type Token = { plain: string; folded: string; consonants: string };

// What the same sound is written as by the English, German and French schemes; longest first.
const sounds: [RegExp, string][] = [
  [/schtsch|shch|chtch/g, "s"],
  [/tsch|tch|tz|ts/g, "c"],
  [/sch|sh|zh/g, "s"],
  [/kh/g, "h"],
  [/gh/g, "g"],
  [/ch/g, "c"],
  [/ph|ff$/g, "f"],
  [/ou|oo/g, "u"],
  [/ee/g, "i"],
  [/([aou])e/g, "$1"],
  [/w/g, "v"],
  [/f$/g, "v"],
  [/j(?=[aeiou])/g, "y"],
  [/[jy](?![aeiou])/g, "i"],
  [/z/g, "s"],
  [/ck|q/g, "k"],
  [/x/g, "ks"],
  [/(.)\1+/g, "$1"],
];

// Legal forms, titles and lines of business say nothing about who it is.
const noise = new Set(
  (
    "ag bv capital co company corp dr eood fze fzco gmbh inc kg limited llc llp logistics ltd minerals mr mrs ms ooo oao " +
    "pte plc prof sa sarl shipping sl spa srl trading ug zao"
  )
    .split(" ")
    .map(fold),
);

/** Compares two prepared names. */
export function matchNames(left: PreparedName, right: PreparedName): NameMatch {
  const byToken = alignTokens(left, right);
  const joined = compareJoined(left, right);
  const best = joined.score > byToken.score ? joined : byToken;
  const reasons = [...best.reasons];
  if (best.score > 0 && reasons.length === 0 && left.original !== right.original)
    reasons.push("the same but for marks, capitals, spelling variants or legal form");
  if (left.script !== right.script) reasons.unshift(`${left.script} script compared with ${right.script}`);
  return { score: Math.round(best.score * 100), reasons };
}

export function prepareName(original: string): PreparedName {
  const words = toLatin(original)
    .replace(/[^\p{L}\p{N}\s-]/gu, "")
    .split(/[\s-]+/)
    .filter((word) => word !== "" && word !== "al" && word !== "el");
  const kept = words.filter((word) => !noise.has(fold(word)));
  const script = scriptOf(original);
  const tokens = (kept.length > 0 ? kept : words).map((word) => token(script === "arabic" ? bareArticle(word) : word));
  return { original, script, tokens };
}

function token(plain: string): Token {
  const folded = fold(plain);
  return { plain, folded, consonants: folded.replace(/[aeiouv]/g, "") };
}

function fold(word: string): string {
  return sounds.reduce((text, [pattern, sound]) => text.replace(pattern, sound), word);
}

/** The Arabic article is written together with its word, in Latin letters it is not. */
function bareArticle(word: string): string {
  return word.startsWith("al") && word.length > 4 ? word.slice(2) : word;
}

type Candidate = { score: number; reasons: string[] };

type Pair = { i: number; j: number; weight: number; score: number; reason: string[] };

/** The parts paired in any order, each weighed by its length; parts left over cost. */
function alignTokens(left: PreparedName, right: PreparedName): Candidate {
  const pairs = bestPairs(left, right);
  const weight = pairs.reduce((sum, pair) => sum + pair.weight, 0);
  if (weight === 0) return { score: 0, reasons: [] };
  const sum = pairs.reduce((total, pair) => total + pair.score * pair.weight, 0);
  const extra = Math.abs(left.tokens.length - right.tokens.length);
  // One part alone is no person ("Viktor" must not hit every Viktor), and one clearly different part decides.
  const alone = pairs.length === 1 && extra > 0;
  const different = pairs.some((pair) => pair.score < 0.8);
  const penalty = (alone ? 0.4 : 0.06 * extra) + (different ? 0.1 : 0);
  const reasons = pairs.flatMap((pair) => pair.reason);
  if (extra === 0 && pairs.some((pair) => pair.i !== pair.j))
    reasons.push("the parts of the name stand in another order");
  if (extra > 0) reasons.push(`${extra} part(s) of the name without a counterpart`);
  return { score: Math.max(0, sum / weight - penalty), reasons };
}

/** Greedy: the most alike parts first, each part once. */
function bestPairs(left: PreparedName, right: PreparedName): Pair[] {
  const unvowelled = (left.script === "arabic") !== (right.script === "arabic");
  const all = left.tokens.flatMap((a, i) =>
    right.tokens.map((b, j): Pair => {
      const weight = Math.max(a.plain.length, b.plain.length);
      return { i, j, weight, ...likeness(a, b, unvowelled) };
    }),
  );
  // Pairs with the same i + j never compete, so the choice is the same whichever name comes first.
  all.sort((x, y) => y.score - x.score || x.i + x.j - (y.i + y.j));
  const chosen: Pair[] = [];
  for (const pair of all) {
    if (!chosen.some((other) => other.i === pair.i || other.j === pair.j)) chosen.push(pair);
  }
  return chosen;
}

/** "Mei Lin" and "Meilin": the parts written together, in each order. */
function compareJoined(left: PreparedName, right: PreparedName): Candidate {
  if (left.tokens.length === right.tokens.length) return { score: 0, reasons: [] };
  const [one, other] = [left, right].map(({ tokens }) => rotations(tokens.map(({ folded }) => folded)));
  const score = Math.max(0, ...(one ?? []).flatMap((a) => (other ?? []).map((b) => ratio(a, b)))) * 0.97;
  return { score, reasons: ["the parts of the name are joined or divided differently"] };
}

function rotations(parts: string[]): string[] {
  return parts.map((_, i) => [...parts.slice(i), ...parts.slice(0, i)].join(""));
}

/** `unvowelled`: one of the names is in Arabic letters, so only its consonants can be compared. */
function likeness(a: Token, b: Token, unvowelled: boolean): { score: number; reason: string[] } {
  const pair = `"${a.plain}" and "${b.plain}"`;
  const plain = ratio(a.plain, b.plain);
  if (plain === 1) return { score: 1, reason: [] };
  const folded = ratio(a.folded, b.folded) * 0.98;
  const enough = Math.min(a.consonants.length, b.consonants.length) > 1;
  const bare = unvowelled && enough ? ratio(a.consonants, b.consonants) * 0.94 : 0;
  if (bare > folded && bare > plain) return { score: bare, reason: [`${pair} have like consonants`] };
  if (folded > plain) return { score: folded, reason: [`${pair} sound alike`] };
  return { score: plain, reason: [`${pair} differ by ${distance(a.plain, b.plain)} letter(s)`] };
}

function ratio(a: string, b: string): number {
  const longest = Math.max(a.length, b.length);
  return longest === 0 ? 0 : 1 - distance(a, b) / longest;
}
