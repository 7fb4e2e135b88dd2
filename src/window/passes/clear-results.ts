import type { ToolCallPart } from "../../model/part.ts";
import type { Pass, PassContext, Proposal } from "../pass.ts";
import { getToolName, type PlacedCall, type PlacedResult } from "../placed-result.ts";
import { findProtectedSeqs } from "../protected-seqs.ts";
import { shrinkPart } from "../replace-part.ts";
import { type Slot, sumSlotTokens } from "../slot.ts";
import {
  buildStubPart,
  buildStubText,
  describeOutputSize,
  describeTextSize,
  getStubPlace,
  hasStub,
  isStub,
} from "../stub.ts";
import { getWindowIndex } from "../window-index.ts";

/** Threshold for clearing: tokens of the whole request, or tool calls with a result. */
type ClearTrigger = { readonly tokens: number } | { readonly calls: number };

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
  readonly isSpared?: (answer: PlacedResult) => boolean;
}

/** Clears the results of all but the latest tool calls. */
export function clearResults(options: ClearOptions = {}): Pass {
  const { trigger, keep = 3, clearAtLeast = 0, excludeTools = [], clearInputs = false, isSpared } = options;
  return (slots, context) => {
    const { results: answers } = getWindowIndex(slots);
    if (trigger && !isTriggered(trigger, slots, answers, context)) return [];
    const kept = findProtectedSeqs(slots, context.pins);
    const isFree = (index: number) => !kept.has(slots[index]?.seq ?? -1);
    const known = answers.filter((answer) => !excludeTools.includes(getToolName(answer) ?? ""));
    const latest = findLatestCalls(known, keep);
    const countFreed = createFreedCounter(slots, context);
    const proposals: Proposal[] = [];
    const inputs = new Set<PlacedCall>();
    let freed = 0;
    for (const answer of known) {
      if (countFreed(freed) >= (options.enough ?? Number.POSITIVE_INFINITY)) break;
      const { placedCall: to } = answer;
      if (latest.has(to ?? answer) || isSpared?.(answer)) continue;
      const made = isFree(answer.slot) ? [...clearResult(slots, answer, context)] : [];
      if (to && isInputCleared(clearInputs, answer) && !inputs.has(to) && isFree(to.slot)) {
        inputs.add(to);
        for (const cleared of clearInput(slots, to, context)) made.push(cleared);
      }
      for (const proposal of made) proposals.push(proposal);
      freed += made.reduce((total, { freedTokens }) => total + freedTokens, 0);
    }
    return countFreed(freed) < clearAtLeast ? [] : proposals;
  };
}

function isInputCleared(clearInputs: boolean | readonly string[], answer: PlacedResult): boolean {
  return typeof clearInputs === "boolean" ? clearInputs : clearInputs.includes(getToolName(answer) ?? "");
}

function isTriggered(
  trigger: ClearTrigger,
  slots: readonly Slot[],
  answers: readonly PlacedResult[],
  { systemTokens = 0, counted = keepCount }: PassContext,
): boolean {
  if ("tokens" in trigger) return counted(systemTokens + sumSlotTokens(slots)) > trigger.tokens;
  return new Set(answers.map((answer) => answer.placedCall ?? answer)).size > trigger.calls;
}

/** Converts freed tokens from estimates to the unit that the options use. */
function createFreedCounter(
  slots: readonly Slot[],
  { systemTokens = 0, counted = keepCount }: PassContext,
): (freed: number) => number {
  const before = systemTokens + sumSlotTokens(slots);
  return (freed) => counted(before) - counted(before - freed);
}

function keepCount(tokens: number): number {
  return tokens;
}

/**
 * The calls answered last, or the answers themselves if their call is missing; several results of one call count once.
 */
function findLatestCalls(
  answers: readonly PlacedResult[],
  count: number,
): ReadonlySet<PlacedCall | PlacedResult> {
  const latest = new Set<PlacedCall | PlacedResult>();
  for (const answer of answers.toReversed()) {
    if (latest.size >= count) break;
    latest.add(answer.placedCall ?? answer);
  }
  return latest;
}

function clearResult(
  slots: readonly Slot[],
  answer: PlacedResult,
  context: PassContext,
): readonly Proposal[] {
  const slot = slots[answer.slot] as Slot;
  const { result } = answer;
  if (isStub(result.output)) return [];
  const what = `The result of ${getToolName(answer) ?? "a tool"}`;
  const output = [
    buildStubPart({ what, size: describeOutputSize(result.output), ...getStubPlace(slot, context) }),
  ];
  return shrinkPart(slot, answer.part, { ...result, output }, "old tool result", context);
}

function clearInput(
  slots: readonly Slot[],
  { slot: index, part, call }: PlacedCall,
  context: PassContext,
): readonly Proposal[] {
  const slot = slots[index] as Slot;
  const name = call.type === "blob" ? call.toolName : call.name;
  if (call.callId === undefined || name === undefined) return [];
  const text = call.type === "blob" ? undefined : JSON.stringify(call.input);
  if (text !== undefined && hasStub(text)) return [];
  const size = describeTextSize(text?.length ?? (call.type === "blob" ? call.sizeBytes : 0));
  const cleared = buildStubText({ what: "The input", size, ...getStubPlace(slot, context) });
  const other: ToolCallPart = { type: "tool-call", callId: call.callId, name, input: { cleared } };
  return shrinkPart(slot, part, other, "old tool input", context);
}
