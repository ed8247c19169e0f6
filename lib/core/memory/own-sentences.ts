// What a user says in person, cut into sentences: the only text that can become a fact. What a message quotes (code, mail
// quotes, tagged documents, longer passages in quotation marks) or seems to paste is somebody else's word.

/** Longer messages are taken for pasted documents. */
const maxChars = 2000;

/** Stands where somebody else's words stood. */
const gap = "\ufffc";

const quoted: readonly RegExp[] = [
  /^ {0,3}(```|~~~)[\s\S]*?(?:^ {0,3}\1|(?![\s\S]))/gm,
  /^[ \t]*(?:>|\|).*$/gm,
  /<([a-z][\w-]*)\b[^>]*>[\s\S]*?(?:<\/\1>|(?![\s\S]))/gi,
  /`[^`\n]{20,}`/g,
  // A name in quotation marks is the user's; a passage is not. A mark that is never closed opens a passage too.
  /"(?=\s*\S+(?:\s+[^\s"]+){3})[^"]*(?:"|(?![\s\S]))/g,
  /[“„](?=\s*\S+(?:\s+[^\s“”„]+){3})[^“”]*(?:[“”]|(?![\s\S]))/g,
  /«(?=\s*\S+(?:\s+[^\s«»]+){3})[^»]*(?:»|(?![\s\S]))/g,
  /「[^」]{8,}(?:」|(?![\s\S]))/g,
];

/** Sentences of one message, whole and verbatim; one that holds somebody else's words is left out. */
export function ownSentences(text: string): string[] {
  if (text.length > maxChars) return [];
  const masked = quoted.reduce((rest, pattern) => rest.replace(pattern, gap), text);
  return masked
    .split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)
    .flatMap((line) => [...segmenter.segment(line)].map(({ segment }) => segment.trim()))
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence) && !sentence.includes(gap));
}

const segmenter = new Intl.Segmenter("und", { granularity: "sentence" });
