const END = /(?<=[.!?…]["')\]]?)\s+(?=\S)|(?<=[。！？；])\s*(?=\S)/u;
const LONG = 300;
/** Matches code, tables and rules, which contain no sentences. */
const NO_PROSE =
  /^\s*(?:```|\||[-=*_]{3,}|[{}()[\];,]+\s*$|(?:import|export|const|let|var|function|class|def|return|if|for|while)\b.*[{;(=:]\s*$)/;
let segmenter: Intl.Segmenter | undefined;

/** The sentences of a text, line by line, without list and heading marks; code blocks are skipped. */
export function sentencesOf(text: string): readonly string[] {
  const sentences: string[] = [];
  let isCode = false;
  for (const line of text.split("\n")) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    if (isCode || NO_PROSE.test(line)) continue;
    const plain = line
      .replace(/^\s*(?:#{1,6}\s+|>\s*|[-*•]\s+(?:\[[ xX]\]\s*)?|\d{1,3}[.)、]\s+)+/, "")
      .trim();
    if (plain === "") continue;
    for (const piece of plain.split(END)) {
      if (piece.length <= LONG || !/[^\x20-\x7e]/.test(piece)) sentences.push(piece.trim());
      else for (const sentence of segmented(piece)) sentences.push(sentence);
    }
  }
  return sentences.filter((sentence) => sentence !== "");
}

/** Handles scripts that end sentences with other characters, or with none. */
function segmented(text: string): readonly string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "sentence" });
  return [...segmenter.segment(text)].map(({ segment }) => segment.trim());
}
