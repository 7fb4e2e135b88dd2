import { estimateText } from "../../window/tokens/estimate.ts";
import { withoutControlTokens } from "../contract/sanitize-summary.ts";

const MAX_CHARACTERS = 20_000;

/** Reduces a text to one line of at most `tokens`, dropping the middle if it is too long. */
export function clipLine(text: string, tokens: number): string {
  const line = withoutControlTokens(text.slice(0, MAX_CHARACTERS).replace(/\s+/g, " ").trim());
  const taken = estimateText(line);
  if (taken <= tokens) return line;
  const characters = Math.max(8, Math.floor((line.length * tokens) / taken) - 3);
  const head = Math.ceil(characters * 0.75);
  const tail = characters - head;
  const end = tail > 0 ? line.slice(-tail).toWellFormed() : "";
  return `${line.slice(0, head).toWellFormed().trimEnd()} … ${end.trimStart()}`;
}

/** Like `clipLine`, in quotation marks. */
export function quoteLine(text: string, tokens: number): string {
  return `"${clipLine(text, tokens)}"`;
}

/** Like `clipLine`, as inline code. */
export function toInlineCode(text: string, tokens: number): string {
  return `\`${clipLine(text, tokens).replaceAll("`", "'")}\``;
}
