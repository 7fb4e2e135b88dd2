import { createHash } from "node:crypto";
import type { Message, Part } from "../index.ts";

/**
 * What was said, as a key: messages of the same key say the same. Left out is what callers lose or change on the way
 * without meaning to: reasoning, options of providers, the input of calls (their ids name them), empty text. Parts that
 * were too large for the log have the key they had before.
 */
export function saidKey(message: Message): string {
  const known = keys.get(message);
  if (known !== undefined) return known;
  const { role, parts } = message;
  const key = digestOf(JSON.stringify([role, ...parts.flatMap((part) => keyOf(part) ?? [])]));
  keys.set(message, key);
  return key;
}

/** Messages of a window stay the same objects from call to call, and never change. */
const keys = new WeakMap<Message, string>();

/** The key of a part; undefined for one that does not count. */
export function keyOf(part: Part): string | undefined {
  switch (part.type) {
    case "text":
      return part.text === "" ? undefined : `text ${digestOf(part.text)}`;
    case "reasoning":
      return undefined;
    case "tool-call":
      return callKey(part.callId, part.name);
    case "tool-result": {
      const output = part.output.flatMap((piece) => keyOf(piece) ?? []);
      return JSON.stringify(["result", part.callId, part.isError === true, ...output]);
    }
    case "raw":
      return `raw ${digestOf(JSON.stringify(part))}`;
    case "blob":
      break;
  }
  switch (part.of) {
    case undefined:
      return `media ${part.digest}`;
    case "reasoning":
      return undefined;
    case "tool-call":
      return callKey(part.callId ?? "", part.toolName ?? "");
    default:
      return `${part.of} ${part.digest}`;
  }
}

function callKey(callId: string, name: string): string {
  return JSON.stringify(["call", callId, name]);
}

/** As digests of blobs are made. */
function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
