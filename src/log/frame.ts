import { LonghaulError } from "../model/errors.ts";
import type { Message } from "../model/message.ts";
import type { Part } from "../model/part.ts";

/**
 * Format of a serialized message: its JSON with every longer text replaced by its length, a line break, then those
 * texts in order. Long texts are neither escaped on write nor scanned for escapes on read, which would take longer than
 * all other steps. JSON itself never contains a line break.
 */

/** Shorter texts stay in the JSON. */
const MIN_LIFTED = 32;

/** A part as it appears in the JSON; its text may be replaced by a length. */
type LiftedPart<P> = P extends { readonly text: string } ? Omit<P, "text"> & { text: string | number } : P;

/** Serializes a message. */
export function frameMessage(message: Message): string {
  let texts = "";
  const lift = <P extends Part>(part: P): P | LiftedPart<P> => {
    if ((part.type !== "text" && part.type !== "reasoning") || part.text.length < MIN_LIFTED) return part;
    // An unpaired surrogate has no UTF-8 form; JSON can escape it.
    if (!part.text.isWellFormed()) return part;
    texts += part.text;
    return { ...part, text: part.text.length } as LiftedPart<P>;
  };
  const parts = message.parts.map((part) =>
    part.type === "tool-result" ? { ...part, output: part.output.map(lift) } : lift(part),
  );
  return texts === "" ? JSON.stringify(message) : `${JSON.stringify({ ...message, parts })}\n${texts}`;
}

/** Parses a serialized message; throws if it is incomplete. */
export function unframeMessage(framed: string): Message {
  const end = framed.indexOf("\n");
  if (end === -1) return JSON.parse(framed);
  const message: Message = JSON.parse(framed.slice(0, end));
  let at = end + 1;
  const restore = (part: LiftedPart<Part>) => {
    if ((part.type !== "text" && part.type !== "reasoning") || typeof part.text !== "number") return;
    const length: number = part.text;
    part.text = framed.slice(at, at + length);
    at += length;
  };
  for (const part of message.parts) {
    if (part.type === "tool-result") part.output.forEach(restore);
    else restore(part as LiftedPart<Part>);
  }
  if (at === framed.length) return message;
  throw new LonghaulError(
    "STORE_CORRUPT",
    "The payload is damaged: its texts do not have the lengths it names.",
  );
}
