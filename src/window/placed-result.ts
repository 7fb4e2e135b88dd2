import type { BlobPart, ToolCallPart, ToolResultPart } from "../model/part.ts";
import { isCall } from "../model/tool-call-ids.ts";
import type { Slot } from "./slot.ts";

/** A tool call and its position in a window. */
export interface PlacedCall {
  readonly slot: number;
  readonly part: number;
  readonly call: ToolCallPart | BlobPart;
}

/** A tool result and its position in a window, with the call it answers if the window has that call. */
export interface PlacedResult {
  readonly slot: number;
  readonly part: number;
  readonly result: ToolResultPart;
  readonly placedCall?: PlacedCall;
}

/**
 * The tool results of a window, in order. Call ids may repeat: a result answers the latest unanswered call with its id,
 * or else the latest call with that id.
 */
export function pairResults(slots: readonly Slot[]): readonly PlacedResult[] {
  const answers: PlacedResult[] = [];
  const calls = new Map<string, PlacedCall[]>();
  const answered = new Set<PlacedCall>();
  for (const [slot, { message }] of slots.entries()) {
    for (const [part, content] of message.parts.entries()) {
      if (isCall(content)) {
        if (content.callId === undefined) continue;
        const known = calls.get(content.callId);
        const call = { slot, part, call: content };
        if (known) known.push(call);
        else calls.set(content.callId, [call]);
      } else if (content.type === "tool-result") {
        const known = calls.get(content.callId);
        const to = known?.findLast((call) => !answered.has(call)) ?? known?.at(-1);
        if (to) answered.add(to);
        answers.push({ slot, part, result: content, ...(to && { placedCall: to }) });
      }
    }
  }
  return answers;
}

/** The name of the tool that produced a result; undefined if neither the call nor the result names it. */
export function getToolName({ result, placedCall: to }: PlacedResult): string | undefined {
  return to?.call.type === "tool-call" ? to.call.name : (to?.call.toolName ?? result.name);
}
