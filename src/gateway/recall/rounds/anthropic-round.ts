import { objectOf, textOf } from "../../../formats/content/fields.ts";
import type { JsonObject } from "../../api/api.ts";
import { isOwnTool } from "../tools.ts";
import type { OwnAnswer, OwnCall, OwnRound } from "./joiner.ts";

/** True for a call of ours. */
export function isOwnBlock({ type, name }: JsonObject): boolean {
  return type === "tool_use" && isOwnTool(name);
}

/** True for a call that the client has to answer. */
export function isClientBlock(block: JsonObject): boolean {
  return block.type === "tool_use" && !isOwnBlock(block);
}

/** True for a block with words. */
export function isWords({ type, text }: JsonObject): boolean {
  return type === "text" && textOf(text) !== undefined;
}

/** The round that blocks make, if it stopped for calls of ours and for no others. */
export function ownRound(blocks: readonly JsonObject[], stopReason: unknown): OwnRound | undefined {
  if (stopReason !== "tool_use" || blocks.some(isClientBlock)) return undefined;
  const calls = blocks.filter(isOwnBlock).flatMap((block): readonly OwnCall[] => {
    const id = textOf(block.id);
    const input = objectOf(block.input);
    return id === undefined || !input ? [] : [{ id, name: String(block.name), input }];
  });
  if (calls.length === 0) return undefined;
  // Texts without a word are refused.
  const content = blocks.filter((block) => block.type !== "text" || isWords(block));
  return { calls, elements: [{ role: "assistant", content }] };
}

/** Why a reply stopped, for someone who sees no calls of ours. */
export function shownReason(reason: unknown, hasClientCall: boolean): unknown {
  return reason === "tool_use" && !hasClientCall ? "end_turn" : reason;
}

/** The message that answers calls. */
export function results(answers: readonly OwnAnswer[]): readonly JsonObject[] {
  const content = answers.map(({ call, text }) => ({
    type: "tool_result",
    tool_use_id: call.id,
    content: text,
  }));
  return [{ role: "user", content }];
}
