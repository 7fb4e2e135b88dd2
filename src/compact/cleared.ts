import { checkList } from "../model/arguments.ts";
import { type Message, textOfMessage } from "../model/message.ts";
import type { ToolResultPart } from "../model/part.ts";
import { hasReasoning, turnsOf } from "../window/passes/clear-reasoning.ts";
import type { Slot } from "../window/slot.ts";
import { isStub } from "../window/stub.ts";
import { estimateMessage } from "../window/tokens/estimate.ts";
import { isCompaction } from "./compact-slots.ts";

/** The content that was cleared from a window, in estimated tokens. */
export interface Cleared {
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
export function clearedIn(slots: readonly Slot[]): Cleared {
  checkList("slots", slots, { message: "object", original: "object?" });
  const turns = turnsOf(slots);
  const thinking = new Set<number>();
  let toolUses = 0;
  let toolTokens = 0;
  let reasoningTokens = 0;
  for (const [index, { original, message, isNote }] of slots.entries()) {
    if (!original || original === message || isNote) continue;
    const freed = estimateMessage(original) - estimateMessage(message);
    const thought = hasReasoning(original) && !hasReasoning(message) ? tokensOfReasoning(original) : 0;
    if (thought > 0) thinking.add(turns[index] as number);
    reasoningTokens += thought;
    const cleared = stubsIn(message) - stubsIn(original);
    const isInputCleared = message.parts.some(({ type }) => type === "tool-call");
    if (cleared > 0 || isInputCleared) toolTokens += Math.max(0, freed - thought);
    toolUses += Math.max(0, cleared);
  }
  const compacted = slots.find(isCompaction);
  const summary = compacted && textOfMessage(compacted.message);
  return {
    toolUses,
    toolTokens,
    reasoningTurns: thinking.size,
    reasoningTokens,
    isCompacted: compacted !== undefined,
    ...(summary !== undefined && { summary }),
  };
}

function tokensOfReasoning(message: Message): number {
  const parts = message.parts.filter((part) => !hasReasoning({ ...message, parts: [part] }));
  return Math.max(1, estimateMessage(message) - estimateMessage({ ...message, parts }));
}

function stubsIn({ parts }: Message): number {
  const results = parts.filter((part): part is ToolResultPart => part.type === "tool-result");
  return results.filter(({ output }) => isStub(output)).length;
}
