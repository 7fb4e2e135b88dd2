import { computeDigest } from "../../../base/digest.ts";

/** Derives an assistant message id from a name. */
export function deriveMessageId(name: string): string {
  return `msg_${computeDigest(name, 24)}`;
}
