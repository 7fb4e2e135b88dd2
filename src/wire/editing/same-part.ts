import { isDeepStrictEqual } from "node:util";
import { computeDigest } from "../../model/base/digest.ts";
import type { Message } from "../../model/message.ts";
import type { BlobPart } from "../../model/part.ts";
import { type AnyPart, findBase64, getOutputParts, getPartKind, isSpilled } from "./part-kind.ts";

/** True if no part of a message was edited. */
export function isUnedited(message: Message, original: Message): boolean {
  if (message === original) return true;
  return message.role === original.role && areSameParts(message.parts, original.parts);
}

/** True if two parts are identical; a blob equals the part that it was made from. */
export function isSamePart(one: AnyPart, other: AnyPart): boolean {
  if (one === other) return true;
  if (getPartKind(one) !== getPartKind(other)) return false;
  if (one.type === "blob" && other.type === "blob") return one.digest === other.digest;
  if (one.type === "blob") return isBlobOf(one, other);
  if (other.type === "blob") return isBlobOf(other, one);
  if (one.type === "tool-result" && other.type === "tool-result") {
    const isAlike = one.callId === other.callId && (one.isError ?? false) === (other.isError ?? false);
    return isAlike && areSameParts(getOutputParts(one), getOutputParts(other));
  }
  return isDeepStrictEqual(one, other);
}

/** True if a client's call equals a logged one, even if the client has rewritten its id. */
export function isSameCall(one: AnyPart, other: AnyPart): boolean {
  if (one.type !== "tool-call" || other.type !== "tool-call") return false;
  return one.name === other.name && isDeepStrictEqual(one.input, other.input);
}

function areSameParts(some: readonly AnyPart[], others: readonly AnyPart[]): boolean {
  return (
    some.length === others.length && some.every((part, index) => isSamePart(part, others[index] as AnyPart))
  );
}

/** True if a blob contains this part. */
function isBlobOf(blob: BlobPart, part: AnyPart): boolean {
  if (part.type === "data") {
    const base64 = findBase64(part);
    return base64 !== undefined && computeDigest(Buffer.from(base64, "base64")) === blob.digest;
  }
  if (!isSpilled(blob)) return false;
  return computeDigest(part.type === "text" ? part.text : JSON.stringify(part)) === blob.digest;
}
