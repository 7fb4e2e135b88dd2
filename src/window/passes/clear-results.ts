import type { ToolCallPart } from "../../model/part.ts";
import { type Answer, answersOf, type Call, toolOf } from "../answer.ts";
import type { Pass, PassContext, Proposal } from "../pass.ts";
import { protectedSeqs } from "../protected.ts";
import { shrinkPart } from "../replace-part.ts";
import type { Slot } from "../slot.ts";
import { hasStub, isStub, sizeOfOutput, sizeOfText, stubPart, stubText } from "../stub.ts";

/** What Anthropic's `clear_tool_uses` can be told. */
export interface ClearOptions {
  /** How many of the latest results stay; 3 unless given. */
  readonly keep?: number;
  /** Tools whose results are never cleared. */
  readonly excludeTools?: readonly string[];
  /** Clears what the tools were called with as well. */
  readonly clearInputs?: boolean;
}

/** Clears the results of all but the latest tool calls. */
export function clearResults({ keep = 3, excludeTools = [], clearInputs = false }: ClearOptions = {}): Pass {
  return (slots, context) => {
    const kept = protectedSeqs(slots, context.pins);
    const answers = answersOf(slots).filter((answer) => !excludeTools.includes(toolOf(answer) ?? ""));
    const isFree = (index: number) => !kept.has(slots[index]?.seq ?? -1);
    const cleared = answers.slice(0, Math.max(0, answers.length - keep));
    const calls = new Set(clearInputs ? cleared.flatMap(({ to }) => to ?? []) : []);
    return [
      ...cleared.flatMap((answer) => (isFree(answer.slot) ? clearedResult(slots, answer, context) : [])),
      ...[...calls].flatMap((call) => (isFree(call.slot) ? clearedInput(slots, call, context) : [])),
    ];
  };
}

function clearedResult(slots: readonly Slot[], answer: Answer, context: PassContext): readonly Proposal[] {
  const slot = slots[answer.slot] as Slot;
  const { result } = answer;
  if (isStub(result.output)) return [];
  const what = `The result of ${toolOf(answer) ?? "a tool"}`;
  const size = sizeOfOutput(result.output);
  const output = [stubPart({ what, size, session: context.session, seq: slot.seq })];
  return shrinkPart(slot, answer.part, { ...result, output }, "old tool result", context);
}

function clearedInput(
  slots: readonly Slot[],
  { slot: index, part, call }: Call,
  context: PassContext,
): readonly Proposal[] {
  const slot = slots[index] as Slot;
  const name = call.type === "blob" ? call.toolName : call.name;
  if (call.callId === undefined || name === undefined) return [];
  const text = call.type === "blob" ? undefined : JSON.stringify(call.input);
  if (text !== undefined && hasStub(text)) return [];
  const size = sizeOfText(text?.length ?? (call.type === "blob" ? call.sizeBytes : 0));
  const cleared = stubText({ what: "The input", size, session: context.session, seq: slot.seq });
  const other: ToolCallPart = { type: "tool-call", callId: call.callId, name, input: { cleared } };
  return shrinkPart(slot, part, other, "old tool input", context);
}
