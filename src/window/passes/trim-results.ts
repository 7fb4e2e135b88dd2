import type { ToolResultPart } from "../../model/part.ts";
import type { Pass, PassContext } from "../pass.ts";
import type { PlacedResult } from "../placed-result.ts";
import { findProtectedSeqs } from "../protected-seqs.ts";
import { shrinkPart } from "../replace-part.ts";
import type { Slot } from "../slot.ts";
import { buildStubText, describeTextSize, getStubPlace, hasStub } from "../stub.ts";
import { getWindowIndex } from "../window-index.ts";

/** Selects the results to trim, and the number of characters to keep at head and tail. */
interface TrimOptions {
  readonly longerThan: number;
  readonly head: number;
  readonly tail: number;
  /** Results that stay unchanged. */
  readonly isSpared?: (answer: PlacedResult) => boolean;
}

/** Trims long text-only results to their head and tail. */
export function trimResults(options: TrimOptions): Pass {
  return (slots, context) => {
    const kept = findProtectedSeqs(slots, context.pins);
    return getWindowIndex(slots).results.flatMap((answer) => {
      const slot = slots[answer.slot] as Slot;
      const text = getPlainResultText(answer.result);
      const isLong = text !== undefined && text.length > options.longerThan && !hasStub(text);
      if (!isLong || kept.has(slot.seq) || options.isSpared?.(answer)) return [];
      const output = [{ type: "text" as const, text: trimText(text, slot, options, context) }];
      return shrinkPart(slot, answer.part, { ...answer.result, output }, "long old tool result", context);
    });
  };
}

/** The text of a result; undefined if it contains anything other than text. */
export function getPlainResultText({ output }: ToolResultPart): string | undefined {
  const texts = output.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === output.length ? texts.join("\n") : undefined;
}

function trimText(text: string, slot: Slot, { head, tail }: TrimOptions, context: PassContext): string {
  const size = describeTextSize(text.length - head - tail);
  const stub = buildStubText({ what: "The middle of a result", size, ...getStubPlace(slot, context) });
  return `${text.slice(0, head).toWellFormed()}\n${stub}\n${tail > 0 ? text.slice(-tail).toWellFormed() : ""}`;
}
