import type { ToolCallPart } from "../../model/part.ts";
import { type Answer, type Call, toolOf } from "../answer.ts";
import type { Pass, PassContext, Proposal } from "../pass.ts";
import { protectedSeqs } from "../protected.ts";
import { shrinkPart } from "../replace-part.ts";
import { sizeOf } from "../size.ts";
import type { Slot } from "../slot.ts";
import { hasStub, isStub, placeOf, sizeOfOutput, sizeOfText, stubPart, stubText } from "../stub.ts";
import { windowIndex } from "../window-index.ts";

/** Threshold for clearing: tokens of the whole request, or tool calls with a result. */
export type ClearTrigger = { readonly tokens: number } | { readonly calls: number };

/** Options of Anthropic's `clear_tool_uses`, plus a filter for results. */
export interface ClearOptions {
  /** Nothing is cleared up to and including this threshold; by default clearing starts at once. */
  readonly trigger?: ClearTrigger;
  /** Number of latest calls that keep their results; default 3. */
  readonly keep?: number;
  /** Clears nothing if it would free fewer tokens than this. */
  readonly clearAtLeast?: number;
  /** Tools whose results are never cleared; they do not count toward `keep`. */
  readonly excludeTools?: readonly string[];
  /** Also clears tool inputs: of all tools, or of the named ones. */
  readonly clearInputs?: boolean | readonly string[];
  /** Stops clearing, oldest first, once this many tokens are freed. */
  readonly enough?: number;
  /** Further results that stay unchanged. */
  readonly isSpared?: (answer: Answer) => boolean;
}

/** Clears the results of all but the latest tool calls. */
export function clearResults(options: ClearOptions = {}): Pass {
  const { trigger, keep = 3, clearAtLeast = 0, excludeTools = [], clearInputs = false, isSpared } = options;
  return (slots, context) => {
    const { answers } = windowIndex(slots);
    if (trigger && !isTriggered(trigger, slots, answers, context)) return [];
    const kept = protectedSeqs(slots, context.pins);
    const isFree = (index: number) => !kept.has(slots[index]?.seq ?? -1);
    const known = answers.filter((answer) => !excludeTools.includes(toolOf(answer) ?? ""));
    const latest = latestCalls(known, keep);
    const countFreed = freedCounter(slots, context);
    const proposals: Proposal[] = [];
    const inputs = new Set<Call>();
    let freed = 0;
    for (const answer of known) {
      if (countFreed(freed) >= (options.enough ?? Number.POSITIVE_INFINITY)) break;
      const { to } = answer;
      if (latest.has(to ?? answer) || isSpared?.(answer)) continue;
      const made = isFree(answer.slot) ? [...clearedResult(slots, answer, context)] : [];
      if (to && isMeant(clearInputs, answer) && !inputs.has(to) && isFree(to.slot)) {
        inputs.add(to);
        for (const cleared of clearedInput(slots, to, context)) made.push(cleared);
      }
      for (const proposal of made) proposals.push(proposal);
      freed += made.reduce((total, { freedTokens }) => total + freedTokens, 0);
    }
    return countFreed(freed) < clearAtLeast ? [] : proposals;
  };
}

function isMeant(clearInputs: boolean | readonly string[], answer: Answer): boolean {
  return typeof clearInputs === "boolean" ? clearInputs : clearInputs.includes(toolOf(answer) ?? "");
}

function isTriggered(
  trigger: ClearTrigger,
  slots: readonly Slot[],
  answers: readonly Answer[],
  { systemTokens = 0, counted = same }: PassContext,
): boolean {
  if ("tokens" in trigger) return counted(systemTokens + sizeOf(slots)) > trigger.tokens;
  return new Set(answers.map((answer) => answer.to ?? answer)).size > trigger.calls;
}

/** Converts freed tokens from estimates to the unit that the options use. */
function freedCounter(
  slots: readonly Slot[],
  { systemTokens = 0, counted = same }: PassContext,
): (freed: number) => number {
  const before = systemTokens + sizeOf(slots);
  return (freed) => counted(before) - counted(before - freed);
}

function same(tokens: number): number {
  return tokens;
}

/**
 * The calls answered last, or the answers themselves if their call is missing; several results of one call count once.
 */
function latestCalls(answers: readonly Answer[], count: number): ReadonlySet<Call | Answer> {
  const latest = new Set<Call | Answer>();
  for (const answer of answers.toReversed()) {
    if (latest.size >= count) break;
    latest.add(answer.to ?? answer);
  }
  return latest;
}

function clearedResult(slots: readonly Slot[], answer: Answer, context: PassContext): readonly Proposal[] {
  const slot = slots[answer.slot] as Slot;
  const { result } = answer;
  if (isStub(result.output)) return [];
  const what = `The result of ${toolOf(answer) ?? "a tool"}`;
  const output = [stubPart({ what, size: sizeOfOutput(result.output), ...placeOf(slot, context) })];
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
  const cleared = stubText({ what: "The input", size, ...placeOf(slot, context) });
  const other: ToolCallPart = { type: "tool-call", callId: call.callId, name, input: { cleared } };
  return shrinkPart(slot, part, other, "old tool input", context);
}
