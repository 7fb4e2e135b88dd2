import { measureWidth } from "./width.ts";

/** Wraps a text between words; a word wider than a line stays whole. */
export function wrapText(text: string, columns: number): readonly string[] {
  if (measureWidth(text) <= columns) return [text];
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of text.split(" ")) {
    const longer: string = line === undefined ? word : `${line} ${word}`;
    if (line === undefined || measureWidth(longer) <= columns) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return line === undefined ? lines : [...lines, line];
}
