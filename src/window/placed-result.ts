import { dropUndefined } from "../model/base/drop-undefined.ts";
import type { BlobPart, ToolCallPart, ToolResultPart } from "../model/part.ts";
import {
  findRawAnswerId,
  findRawCallId,
  isCall,
  listLoadedTools,
  listProgramCalls,
} from "../model/tool-calls.ts";
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
        answers.push({ slot, part, result: content, ...dropUndefined({ placedCall: to }) });
      }
    }
  }
  return answers;
}

/**
 * The results whose text may be shortened or removed. Searches for tools are not among them, nor results of calls that a
 * program of the provider made: the program needs every byte, and the model does not see them.
 */
export function listEditableResults(
  slots: readonly Slot[],
  results: readonly PlacedResult[],
): readonly PlacedResult[] {
  const program = new Set(slots.flatMap(({ message }) => listProgramCalls(message)));
  return results.filter(({ result }) => !program.has(result.callId) && listLoadedTools(result).length === 0);
}

/** A raw answer of a foreign format and the earlier message with its call, by the indexes of their slots. */
interface RawPair {
  readonly slot: number;
  readonly callSlot: number;
}

/** The raw calls and answers of a window that stand in different messages, such as those of a provider's own tools. */
export function pairRawCalls(slots: readonly Slot[]): readonly RawPair[] {
  const pairs: RawPair[] = [];
  const calls = new Map<string, number>();
  for (const [slot, { message }] of slots.entries()) {
    for (const part of message.parts) {
      if (part.type !== "raw" && part.type !== "blob") continue;
      const callId = findRawCallId(part);
      if (callId !== undefined) calls.set(callId, slot);
      const callSlot = calls.get(findRawAnswerId(part) ?? "");
      if (callSlot !== undefined && callSlot !== slot) pairs.push({ slot, callSlot });
    }
  }
  return pairs;
}

/** The name of the tool that produced a result; undefined if neither the call nor the result names it. */
export function getToolName({ result, placedCall: to }: PlacedResult): string | undefined {
  return to?.call.type === "tool-call" ? to.call.name : (to?.call.toolName ?? result.name);
}
