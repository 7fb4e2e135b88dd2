import type { ToolResultPart } from "../../model/part.ts";
import type { Answer } from "../answer.ts";
import type { Pass, PassContext } from "../pass.ts";
import { protectedSeqs } from "../protected.ts";
import { shrinkPart } from "../replace-part.ts";
import type { Slot } from "../slot.ts";
import { hasStub, placeOf, sizeOfText, stubText } from "../stub.ts";
import { windowIndex } from "../window-index.ts";

/** Selects the results to trim, and the number of characters to keep at head and tail. */
export interface TrimOptions {
  readonly longerThan: number;
  readonly head: number;
  readonly tail: number;
  /** Results that stay unchanged. */
  readonly isSpared?: (answer: Answer) => boolean;
}

/** Trims long text-only results to their head and tail. */
export function trimResults(options: TrimOptions): Pass {
  return (slots, context) => {
    const kept = protectedSeqs(slots, context.pins);
    return windowIndex(slots).answers.flatMap((answer) => {
      const slot = slots[answer.slot] as Slot;
      const text = wordsOfResult(answer.result);
      const isLong = text !== undefined && text.length > options.longerThan && !hasStub(text);
      if (!isLong || kept.has(slot.seq) || options.isSpared?.(answer)) return [];
      const output = [{ type: "text" as const, text: trimmed(text, slot, options, context) }];
      return shrinkPart(slot, answer.part, { ...answer.result, output }, "long old tool result", context);
    });
  };
}

/** The text of a result; undefined if it contains anything other than text. */
export function wordsOfResult({ output }: ToolResultPart): string | undefined {
  const texts = output.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === output.length ? texts.join("\n") : undefined;
}

function trimmed(text: string, slot: Slot, { head, tail }: TrimOptions, context: PassContext): string {
  const size = sizeOfText(text.length - head - tail);
  const stub = stubText({ what: "The middle of a result", size, ...placeOf(slot, context) });
  return `${text.slice(0, head).toWellFormed()}\n${stub}\n${tail > 0 ? text.slice(-tail).toWellFormed() : ""}`;
}
