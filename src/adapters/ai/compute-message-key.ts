import { isDeepStrictEqual } from "node:util";
import type { Message, Part, ToolCallPart } from "../../kernel/index.ts";
import { computeDigest } from "../../model/base/digest.ts";

/**
 * A key for the content of a message: messages with the same key are equal. Ignores parts that callers lose or change
 * unintentionally: reasoning, provider options, tool input (call ids identify it), empty text. A part stored as a blob
 * keeps the key it had before.
 */
export function computeMessageKey(message: Message): string {
  const known = keys.get(message);
  if (known !== undefined) return known;
  const { role, parts } = message;
  const key = computeDigest(JSON.stringify([role, ...parts.flatMap((part) => computePartKey(part) ?? [])]));
  keys.set(message, key);
  return key;
}

/** True if another part is a call with the same input, which the keys of calls do not tell. */
export function hasInputOf(call: ToolCallPart, other: Part | undefined): boolean {
  return call === other || (other?.type === "tool-call" && isDeepStrictEqual(call.input, other.input));
}

/** Cache: messages of a window are immutable and stay the same objects from call to call. */
const keys = new WeakMap<Message, string>();

/** The key of a part; undefined for a part that is ignored. */
export function computePartKey(part: Part): string | undefined {
  switch (part.type) {
    case "text":
      return part.text === "" ? undefined : `text ${computeDigest(part.text)}`;
    case "reasoning":
      return undefined;
    case "tool-call":
      return buildCallKey(part.callId, part.name);
    case "tool-result": {
      const output = part.output.flatMap((piece) => computePartKey(piece) ?? []);
      return JSON.stringify(["result", part.callId, part.isError === true, ...output]);
    }
    case "raw":
      return `raw ${computeDigest(JSON.stringify(part))}`;
    case "blob":
      break;
  }
  switch (part.of) {
    case undefined:
      return `media ${part.digest}`;
    case "reasoning":
      return undefined;
    case "tool-call":
      return buildCallKey(part.callId ?? "", part.toolName ?? "");
    default:
      return `${part.of} ${part.digest}`;
  }
}

function buildCallKey(callId: string, name: string): string {
  return JSON.stringify(["call", callId, name]);
}
