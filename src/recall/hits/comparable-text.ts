import type { ChunkAuthor } from "../../log/store/memory-store.ts";
import { EVIDENCE } from "../text/evidence.ts";
import { splitStatements } from "../text/statements.ts";

/** Separates and encloses statements, so that only whole ones are found in a text. */
const EDGE = "\u0000";

/** The properties of a text that decide which of its marks are layout. */
interface TextOrigin {
  readonly author: ChunkAuthor;
  readonly traits: number;
}

/**
 * A text in a form that is equal for copies of it: whole sentences and lines in order, without the layout around them.
 * Case, numbers and signs stay, because they may be the fact.
 */
export function toComparableText(text: string, origin: TextOrigin): string {
  const plain = origin.author === "tool" ? removeLineNumbers(text) : text;
  const statements = splitStatements(plain).map(({ from, to }) => {
    const own = plain.slice(from, to).replace(/\s+/g, " ");
    return own.replace(choosePrefix(origin), "");
  });
  return EDGE + statements.filter((own) => own !== "").join(EDGE) + EDGE;
}

const NONE = /^(?!)/;
/** The name of an argument, as the text of a tool call has it. */
const FIELD = /^[A-Za-z_]\w{0,30}: /;
/** A list mark, a heading or a quotation; a dash before a number may be its sign. */
const LIST_MARK = /^(?:[-*•>]|#{1,6}) (?=[\p{L}"'`])/u;

/** The signs at the beginning of a line of output may be those of a diff, and the fields of an edit tell old from new. */
function choosePrefix({ author, traits }: TextOrigin): RegExp {
  if (author === "tool" || (traits & EVIDENCE.edit) !== 0) return NONE;
  return (traits & EVIDENCE.call) !== 0 ? FIELD : LIST_MARK;
}

/** Other separators may be those of a table. */
const NUMBERED = /^\s*(\d+)(?:→|(?<=\s\d+)\t)(.*)$/;
const MIN_NUMBERED = 2;

/** Removes the line numbers of a file that was shown: consecutive ones on all lines, except perhaps a cut first one. */
function removeLineNumbers(text: string): string {
  const [first = "", ...lines] = text.split("\n");
  const numbered = lines.filter((line) => line.trim() !== "").map((line) => NUMBERED.exec(line));
  const numbers = numbered.map((match) => Number(match?.[1]));
  const isConsecutive = numbers.every(
    (number, index) => index === 0 || number === (numbers[index - 1] as number) + 1,
  );
  if (numbers.length < MIN_NUMBERED || numbers.some(Number.isNaN) || !isConsecutive) return text;
  return [NUMBERED.exec(first)?.[2] ?? first, ...numbered.map((match) => match?.[2] ?? "")].join("\n");
}

/** The statement in the middle of a comparable text, which any other text with more than half of it contains. */
export function findMiddleStatement(comparable: string): string {
  const middle = Math.floor(comparable.length / 2);
  const from = comparable.lastIndexOf(EDGE, middle - 1);
  return comparable.slice(from, comparable.indexOf(EDGE, Math.max(middle, from + 1)) + 1);
}
