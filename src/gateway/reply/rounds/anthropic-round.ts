import { toObject, toText } from "../../../wire/fields.ts";
import type { WireObject } from "../../../wire/wire.ts";
import { isRecallTool } from "../../recall/recall-tools.ts";
import type { RecallCall, RecallCallResult, RecallRound } from "./round-format.ts";

/** True for a call of one of the gateway's tools. */
export function isRecallBlock({ type, name }: WireObject): boolean {
  return type === "tool_use" && isRecallTool(name);
}

/** True for a call that the client must answer. */
export function isClientCallBlock(block: WireObject): boolean {
  return block.type === "tool_use" && !isRecallBlock(block);
}

/** True for a text block that is not empty. */
export function isTextBlock({ type, text }: WireObject): boolean {
  return type === "text" && toText(text) !== undefined;
}

/** The round made of these blocks, if it stopped for calls of the gateway's tools only. */
export function findAnthropicRound(
  blocks: readonly WireObject[],
  stopReason: unknown,
): RecallRound | undefined {
  if (stopReason !== "tool_use" || blocks.some(isClientCallBlock)) return undefined;
  const calls = blocks.filter(isRecallBlock).flatMap((block): readonly RecallCall[] => {
    const id = toText(block.id);
    const input = toObject(block.input);
    return id === undefined || !input ? [] : [{ id, name: String(block.name), input }];
  });
  if (calls.length === 0) return undefined;
  // The API refuses empty text blocks.
  const content = blocks.filter((block) => block.type !== "text" || isTextBlock(block));
  return { calls, elements: [{ role: "assistant", content }] };
}

/** The stop reason for a client that does not see the gateway's calls. */
export function toShownStopReason(reason: unknown, hasClientCall: boolean): unknown {
  return reason === "tool_use" && !hasClientCall ? "end_turn" : reason;
}

/** The message with the results of calls. */
export function encodeAnthropicResults(answers: readonly RecallCallResult[]): readonly WireObject[] {
  const content = answers.map(({ call, text }) => ({
    type: "tool_result",
    tool_use_id: call.id,
    content: text,
  }));
  return [{ role: "user", content }];
}
