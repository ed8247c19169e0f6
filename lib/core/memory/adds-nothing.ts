// Near duplicates: does a sentence say anything that a fact does not? By its words in their order, so that a changed
// number, name or "not" always counts as news: rather two facts that say the same than one that is lost.

/** True when every word that carries meaning stands in `known` too, in the same order, and both deny the same. */
export function addsNothing(sentence: string, known: string): boolean {
  const [news, old] = [words(sentence), words(known)];
  if (news.length === 0) return plain(sentence) === plain(known);
  if (denials(news) !== denials(old)) return false;
  let at = 0;
  for (const word of old) if (word === news[at]) at++;
  return at === news.length;
}

function words(text: string): string[] {
  return plain(text)
    .split(" ")
    .filter((word) => word !== "" && !empty.has(word))
    .map((word) => (/^[a-z]{2,}[^su]s$/.test(word) ? word.slice(0, -1) : word));
}

/** Lower case, one blank between words; scripts without blanks word by character. */
function plain(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[’‘]/g, "'")
    .replace(/n't\b/g, " not")
    .replace(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu, " $& ")
    .replace(/[^\p{L}\p{M}\p{N}.,%+-]+/gu, " ")
    .replace(/(?<!\p{N})[.,]|[.,](?!\p{N})/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
}

function denials(all: readonly string[]): number {
  return all.filter((word) => denying.has(word)).length;
}

/** Carry no meaning of their own. */
const empty = new Set(
  "a an the i i'm i've my me am is are be been was to of in on at for and that this it as please remember note also still really just by way fyi hi hello ich bin mein meine der die das ein eine und bitte merke dir je suis le la les un une et".split(
    " ",
  ),
);
const denying = new Set(
  "not no never none without longer nicht kein keine keinen nie niemals ne pas jamais sin nunca non mai 不 没 沒 别 無 无".split(
    " ",
  ),
);
