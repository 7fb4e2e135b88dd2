import { objectOf, textOf } from "../../../formats/content/fields.ts";
import type { JsonObject } from "../../api/api.ts";
import { isOwnTool } from "../tools.ts";
import type { OwnAnswer, OwnCall, OwnRound } from "./joiner.ts";

/** True for a call of one of the gateway's tools. */
export function isOwnBlock({ type, name }: JsonObject): boolean {
  return type === "tool_use" && isOwnTool(name);
}

/** True for a call that the client must answer. */
export function isClientBlock(block: JsonObject): boolean {
  return block.type === "tool_use" && !isOwnBlock(block);
}

/** True for a text block that is not empty. */
export function isWords({ type, text }: JsonObject): boolean {
  return type === "text" && textOf(text) !== undefined;
}

/** The round made of these blocks, if it stopped for calls of the gateway's tools only. */
export function ownRound(blocks: readonly JsonObject[], stopReason: unknown): OwnRound | undefined {
  if (stopReason !== "tool_use" || blocks.some(isClientBlock)) return undefined;
  const calls = blocks.filter(isOwnBlock).flatMap((block): readonly OwnCall[] => {
    const id = textOf(block.id);
    const input = objectOf(block.input);
    return id === undefined || !input ? [] : [{ id, name: String(block.name), input }];
  });
  if (calls.length === 0) return undefined;
  // The API refuses empty text blocks.
  const content = blocks.filter((block) => block.type !== "text" || isWords(block));
  return { calls, elements: [{ role: "assistant", content }] };
}

/** The stop reason for a client that does not see the gateway's calls. */
export function shownReason(reason: unknown, hasClientCall: boolean): unknown {
  return reason === "tool_use" && !hasClientCall ? "end_turn" : reason;
}

/** The message with the results of calls. */
export function results(answers: readonly OwnAnswer[]): readonly JsonObject[] {
  const content = answers.map(({ call, text }) => ({
    type: "tool_result",
    tool_use_id: call.id,
    content: text,
  }));
  return [{ role: "user", content }];
}
