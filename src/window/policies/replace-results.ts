import type { Message } from "../../model/message.ts";
import type { ToolResultPart } from "../../model/part.ts";
import type { Answer } from "../answer.ts";
import type { TokensOf } from "../apply-edits.ts";
import type { Slot } from "../slot.ts";

/** What stands for a result that has been cleared. */
export const CLEARED = "[Old tool result content cleared]";

/** Another output for each of some results, where that is smaller. */
export function replaceResults(
  slots: readonly Slot[],
  answers: readonly Answer[],
  outputOf: (result: ToolResultPart) => ToolResultPart["output"],
  tokensOf: TokensOf,
): readonly Slot[] {
  const window = [...slots];
  for (const { slot: index, part, result } of answers) {
    const slot = window[index] as Slot;
    const output = outputOf(result);
    if (output === result.output) continue;
    const message: Message = { ...slot.message, parts: slot.message.parts.with(part, { ...result, output }) };
    const tokens = tokensOf(message);
    if (tokens < slot.tokens)
      window[index] = { ...slot, message, original: slot.original ?? slot.message, tokens };
  }
  return window;
}

/** Nothing but the notice. */
export function cleared({ output }: ToolResultPart): ToolResultPart["output"] {
  const [first] = output;
  const isCleared = output.length === 1 && first?.type === "text" && first.text === CLEARED;
  return isCleared ? output : [{ type: "text", text: CLEARED }];
}
