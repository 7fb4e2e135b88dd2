import type { Message } from "../../../model/message.ts";
import type { Part } from "../../../model/part.ts";
import { renderInput } from "../../extract/part-text.ts";
import { groupSlots } from "../../group.ts";
import { type Slot, sumSlotTokens } from "../../slot.ts";
import { estimateMessage } from "../../tokens/estimate.ts";
import { citeOf } from "../extractive/summary-candidate.ts";

/** Share of the summarizer's window that one part may take. */
const BASE_RATIO = 0.4;
/** Minimum of that share, for conversations with large messages. */
const MIN_RATIO = 0.15;
/** Messages whose average exceeds this share of the window count as large. */
const LARGE_SHARE = 0.1;
/** Margin for uncertain estimates. */
export const SPLIT_SAFETY = 1.2;

/**
 * Maximum tokens of one part: smaller if messages are large relative to the summarizer's window, so that errors even
 * out.
 */
export function computeChunkTokens(slots: readonly Slot[], window: number): number {
  const average = slots.length === 0 ? 0 : (sumSlotTokens(slots) * SPLIT_SAFETY) / slots.length / window;
  const cut = average > LARGE_SHARE ? Math.min(2 * average, BASE_RATIO - MIN_RATIO) : 0;
  return Math.floor((window * (BASE_RATIO - cut)) / SPLIT_SAFETY);
}

/**
 * Splits messages into at least `parts` parts of about equal size at group boundaries, and into more if a part would be
 * too large. A group that is too large is split between its messages, and an oversized message into pieces.
 */
export function splitByTokens(
  slots: readonly Slot[],
  options: { readonly parts: number; readonly mostTokens: number },
): readonly (readonly Slot[])[] {
  const total = sumSlotTokens(slots);
  const wanted = Math.max(1, options.parts, Math.ceil(total / options.mostTokens));
  const share = Math.min(options.mostTokens, Math.ceil(total / wanted));
  const parts: Slot[][] = [];
  let tokens = 0;
  for (const group of groupWithin(slots, options.mostTokens)) {
    const size = sumSlotTokens(group);
    const part = parts.at(-1);
    // A group joins the part if it fits, or if at least half of it does and the part may still grow.
    const fits =
      part && (tokens + size <= share || (tokens + size / 2 <= share && tokens + size <= options.mostTokens));
    if (fits) for (const member of group) part.push(member);
    else parts.push([...group]);
    tokens = fits ? tokens + size : size;
  }
  return parts;
}

function groupWithin(slots: readonly Slot[], mostTokens: number): readonly (readonly Slot[])[] {
  return groupSlots(slots).flatMap(({ from, to }) => {
    const group = slots.slice(from, to + 1);
    if (sumSlotTokens(group) <= mostTokens) return [group];
    return group.flatMap((slot) => divideSlot(slot, mostTokens).map((piece) => [piece]));
  });
}

/** Maximum number of pieces per message part; a longer part loses its middle and states so. */
export const MAX_PIECES = 24;
/** A piece may be shortened by up to this share to end at a line end. */
const LINE_SHARE = 0.2;
/** Token density varies across text. */
const EVENNESS_FACTOR = 0.85;

/** Divides a message that is too large for one prompt into several, in order, each with the same seq. */
export function divideSlot(slot: Slot, maxTokens: number): readonly Slot[] {
  if (slot.tokens <= maxTokens) return [slot];
  const { role } = slot.message;
  const pieces: Part[][] = [];
  let tokens = 0;
  for (const part of slot.message.parts.flatMap((one) => dividePart(one, role, maxTokens, citeOf(slot)))) {
    const size = estimateMessage({ role, parts: [part] });
    const piece = pieces.at(-1);
    if (piece && tokens + size <= maxTokens) piece.push(part);
    else pieces.push([part]);
    tokens = piece && tokens + size <= maxTokens ? tokens + size : size;
  }
  return pieces.map((parts) => {
    const message: Message = { ...slot.message, parts };
    return { ...slot, message, tokens: estimateMessage(message) };
  });
}

function dividePart(part: Part, role: Message["role"], maxTokens: number, cite: string): readonly Part[] {
  const text = getDivisibleText(part);
  const tokens = estimateMessage({ role, parts: [part] });
  if (text === undefined || tokens <= maxTokens) return [part];
  const size = Math.max(1, Math.floor((text.length * maxTokens * EVENNESS_FACTOR) / tokens));
  const all = cutText(text, size);
  const shown = all.length <= MAX_PIECES ? all : dropMiddle(all, cite);
  return shown.map((piece, index) => withText(part, `(piece ${index + 1} of ${shown.length})\n${piece}`));
}

/** The first and last pieces, with a line that states how much is missing in between. */
function dropMiddle(pieces: readonly string[], cite: string): readonly string[] {
  const head = pieces.slice(0, MAX_PIECES / 2);
  const tail = pieces.slice(-MAX_PIECES / 2);
  const left = pieces.slice(head.length, -tail.length).reduce((sum, piece) => sum + piece.length, 0);
  const notice = `[… ${left} characters of ${cite} are left out here; they are in the log …]\n`;
  return [...head, `${notice}${tail[0]}`, ...tail.slice(1)];
}

/** Cuts a text into pieces of at most `size` characters, at line ends if one is near. */
function cutText(text: string, size: number): readonly string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + size);
    const line = to < text.length ? text.lastIndexOf("\n", to - 1) + 1 : to;
    if (line > to - size * LINE_SHARE && line > from) to = line;
    // Keeps surrogate pairs together.
    else if (to < text.length && to - from > 1 && isLowSurrogate(text.charCodeAt(to))) to--;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** The divisible text of a part; undefined if it has none. */
function getDivisibleText(part: Part): string | undefined {
  switch (part.type) {
    case "text":
      return part.text;
    case "tool-call":
      return renderInput(part.input);
    case "tool-result":
      return part.output.map((inner) => getDivisibleText(inner) ?? "").join("\n");
    case "blob":
      return part.preview;
    default:
      return undefined;
  }
}

function withText(part: Part, text: string): Part {
  if (part.type === "tool-call") return { ...part, input: text };
  if (part.type === "tool-result") return { ...part, output: [{ type: "text", text }] };
  return { type: "text", text };
}
