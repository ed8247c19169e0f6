// Tokens of a text by script class: one pass over its UTF-16 units. The rates are what byte-pair tokenizers of
// this generation need, taken from the upper side; words count by length, since tokenizers split by word.

/** Tokens per character of the scripts that are counted singly. */
const rate = {
  digit: 0.45,
  latinMark: 0.6,
  cyrillic: 0.5,
  semitic: 0.7,
  kana: 1.05,
  han: 1.2,
  hangul: 1.35,
  emoji: 2.5,
  joiner: 1,
  other: 1.25,
} as const;
/** Random letters and digits without a break: base64, hashes, keys. */
const packedRate = 0.78;
const packedLength = 40;

/** Tokens of `text`, not rounded. */
export function textTokens(text: string): number {
  let tokens = 0;
  for (let i = 0; i < text.length; ) {
    const code = text.charCodeAt(i);
    const from = i;
    if (code < 128) {
      const kind = ascii[code];
      i++;
      if (kind === letter || kind === digit) {
        while (i < text.length && isWord(text.charCodeAt(i))) i++;
        tokens += wordTokens(text, from, i);
      } else {
        while (i < text.length && text.charCodeAt(i) < 128 && ascii[text.charCodeAt(i)] === kind) i++;
        tokens += kind === blank ? blankTokens(text, from, i) : 1 + (i - from - 1) * 0.45;
      }
    } else if (code >= 0xd800 && code <= 0xdbff) {
      tokens += astralRate(code);
      i += 2;
    } else {
      tokens += unitRate(code);
      i++;
    }
  }
  return tokens;
}

const blank = 0;
const letter = 1;
const digit = 2;
const sign = 3;
const ascii = Array.from({ length: 128 }, (_, code) => {
  if (code <= 32) return blank;
  if (code >= 48 && code <= 57) return digit;
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122) ? letter : sign;
});

function isWord(code: number): boolean {
  if (code >= 128) return false;
  const kind = ascii[code];
  return kind === letter || kind === digit || code === 43 || code === 47 || code === 61 || code === 95;
}

/** A run of letters and digits (and + / = _, as base64 and identifiers have them). */
function wordTokens(text: string, from: number, to: number): number {
  let letters = 0;
  let digits = 0;
  let signs = 0;
  let turns = 0;
  let last = -1;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    const kind = ascii[code] ?? sign;
    if (kind === letter) letters++;
    else if (kind === digit) digits++;
    else signs++;
    // A change between lower case, upper case, digits and signs breaks a token in most tokenizers.
    const shape = kind === letter ? (code >= 97 ? 4 : 5) : kind;
    if (last !== -1 && shape !== last && !(last === 5 && shape === 4)) turns++;
    last = shape;
  }
  const length = to - from;
  if (length >= packedLength && turns > length / 6) return length * packedRate;
  const word = letters === 0 ? 0 : letters <= 7 ? 1.05 : 1 + (letters - 7) / 4.2;
  return word + digits * rate.digit + signs * 0.9 + Math.min(turns, letters) * 0.25;
}

/** One space belongs to the next word; longer indents and line ends are tokens of their own. */
function blankTokens(text: string, from: number, to: number): number {
  if (to - from === 1) return text.charCodeAt(from) === 32 ? 0.03 : 0.9;
  return 1 + (to - from - 1) / 12;
}

function unitRate(code: number): number {
  if (code < 0x250) return code < 0xc0 ? 1 : rate.latinMark;
  if (code < 0x530) return code < 0x370 ? rate.other : rate.cyrillic;
  if (code >= 0x590 && code < 0x780) return rate.semitic;
  if (code >= 0x200b && code <= 0x200f) return rate.joiner;
  if (code >= 0x2010 && code <= 0x203a) return 0.8;
  if (code >= 0x2190 && code <= 0x2bff) return 1.8;
  if (code >= 0x3000 && code <= 0x303f) return 0.9;
  if (code >= 0x3040 && code <= 0x30ff) return rate.kana;
  if (code >= 0x3400 && code <= 0x9fff) return rate.han;
  if (code >= 0xac00 && code <= 0xd7a3) return rate.hangul;
  if (code >= 0xff00 && code <= 0xffef) return rate.kana;
  return code === 0xfe0f ? rate.joiner : rate.other;
}

/** By the first half of a surrogate pair: D83C–D83E hold the emoji, the rest rare Han and historic scripts. */
function astralRate(code: number): number {
  return code >= 0xd83c && code <= 0xd83e ? rate.emoji : 3;
}
