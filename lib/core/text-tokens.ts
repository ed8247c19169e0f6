// Tokens of a text by script class: one pass over its UTF-16 units. The rates are what byte-pair tokenizers of
// this generation need, taken from the upper side; words count by length, since tokenizers split by word.

/** Tokens per character of the scripts that are counted singly. */
const rate = {
  digit: 0.45,
  latinMark: 0.9,
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

const blank = 0;
const sign = 1;
/** Also + / = and _, which stand inside base64 and identifiers. */
const inner = 2;
const digit = 3;
const lower = 4;
const upper = 5;
const ascii = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code <= 32) return blank;
  if (code >= 48 && code <= 57) return digit;
  if (code >= 97 && code <= 122) return lower;
  if (code >= 65 && code <= 90) return upper;
  return code === 43 || code === 47 || code === 61 || code === 95 ? inner : sign;
});

/** Tokens of `text`, not rounded. */
export function textTokens(text: string): number {
  const { length } = text;
  let tokens = 0;
  let i = 0;
  while (i < length) {
    const code = text.charCodeAt(i);
    if (code >= 128) {
      const pair = code >= 0xd800 && code <= 0xdbff;
      tokens += pair ? astralRate(code) : unitRate(code);
      i += pair ? 2 : 1;
      continue;
    }
    const from = i;
    let kind = ascii[code] ?? sign;
    if (kind === blank || kind === sign || kind === inner) {
      const plain = kind === blank;
      do i++;
      while (i < length && isMark(text.charCodeAt(i), plain));
      tokens += plain ? blankTokens(code, i - from) : 1 + (i - from - 1) * 0.45;
      continue;
    }
    // A run of letters and digits. A change of kind breaks a token in most tokenizers, but for "Word".
    const counts = { letters: 0, digits: 0, inners: 0, turns: 0 };
    let last = kind;
    do {
      if (kind >= lower) counts.letters++;
      else if (kind === digit) counts.digits++;
      else counts.inners++;
      if (kind !== last && !(last === upper && kind === lower)) counts.turns++;
      last = kind;
      i++;
      const next = i < length ? text.charCodeAt(i) : 128;
      kind = next < 128 ? (ascii[next] ?? sign) : sign;
    } while (kind >= inner);
    tokens += wordTokens(i - from, counts);
  }
  return tokens;
}

function isMark(code: number, plain: boolean): boolean {
  if (code >= 128) return false;
  const kind = ascii[code];
  return plain ? kind === blank : kind === sign || kind === inner;
}

function wordTokens(
  length: number,
  { letters, digits, inners, turns }: { letters: number; digits: number; inners: number; turns: number },
): number {
  if (length >= packedLength && turns > length / 6) return length * packedRate;
  const long = Math.max(0, Math.min(letters, 10) - 6) / 4 + Math.max(0, letters - 10) / 2.8;
  const word = letters === 0 ? 0 : 1.05 + long;
  return word + digits * rate.digit + inners * 0.9 + Math.min(turns, letters) * 0.25;
}

/** One space belongs to the next word; longer indents and line ends are tokens of their own. */
function blankTokens(first: number, length: number): number {
  if (length === 1) return first === 32 ? 0.03 : 0.9;
  return 1 + (length - 1) / 12;
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
