import { checkList } from "../../model/argument-checks.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { type Message, textOfMessage } from "../../model/message.ts";
import type { ToolResultPart } from "../../model/part.ts";
import { hasReasoning } from "../models/thinking-rule.ts";
import { numberTurns } from "../passes/clear-reasoning.ts";
import type { Slot } from "../slot.ts";
import { isStub } from "../stub.ts";
import { estimateMessage } from "../tokens/estimate.ts";
import { isCompactionSlot } from "./compact-slots.ts";

/** The content that was cleared from a window, in estimated tokens. */
export interface ClearedContent {
  readonly toolUses: number;
  readonly toolTokens: number;
  readonly reasoningTurns: number;
  readonly reasoningTokens: number;
  /** True if a summary replaces older messages. */
  readonly isCompacted: boolean;
  /** That summary, as the model receives it. */
  readonly summary?: string;
}

/** Counts the content cleared from the messages that are still in a window. */
export function countClearedContent(slots: readonly Slot[]): ClearedContent {
  checkList("slots", slots, { message: "object", original: "object?" });
  const turns = numberTurns(slots);
  const thinking = new Set<number>();
  let toolUses = 0;
  let toolTokens = 0;
  let reasoningTokens = 0;
  for (const [index, { original, message, isNote }] of slots.entries()) {
    if (!original || original === message || isNote) continue;
    const freed = estimateMessage(original) - estimateMessage(message);
    const thought = hasReasoning(original) && !hasReasoning(message) ? estimateReasoning(original) : 0;
    if (thought > 0) thinking.add(turns[index] as number);
    reasoningTokens += thought;
    const cleared = countStubs(message) - countStubs(original);
    const isInputCleared = message.parts.some(({ type }) => type === "tool-call");
    if (cleared > 0 || isInputCleared) toolTokens += Math.max(0, freed - thought);
    toolUses += Math.max(0, cleared);
  }
  const compacted = slots.find(isCompactionSlot);
  const summary = compacted && textOfMessage(compacted.message);
  return {
    toolUses,
    toolTokens,
    reasoningTurns: thinking.size,
    reasoningTokens,
    isCompacted: compacted !== undefined,
    ...dropUndefined({ summary }),
  };
}

function estimateReasoning(message: Message): number {
  const parts = message.parts.filter((part) => !hasReasoning({ ...message, parts: [part] }));
  return Math.max(1, estimateMessage(message) - estimateMessage({ ...message, parts }));
}

function countStubs({ parts }: Message): number {
  const results = parts.filter((part): part is ToolResultPart => part.type === "tool-result");
  return results.filter(({ output }) => isStub(output)).length;
}
