import { LonghaulError } from "../model/errors.ts";
import type { Message } from "../model/message.ts";
import type { Part } from "../model/part.ts";

/**
 * How a message is written down: its JSON with every longer text replaced by its length, a line break, then those
 * texts, one behind the other. So long texts are neither escaped on the way in nor searched for escapes on the way out,
 * which would take longer than everything else that happens to them. JSON itself never holds a line break.
 */

/** Shorter texts stay in the JSON. */
const MIN_LIFTED = 32;

/** A part as it stands in the JSON: its text may have become a number. */
type Lifted<P> = P extends { readonly text: string } ? Omit<P, "text"> & { text: string | number } : P;

/** Writes a message down. */
export function frameMessage(message: Message): string {
  let texts = "";
  const lift = <P extends Part>(part: P): P | Lifted<P> => {
    if ((part.type !== "text" && part.type !== "reasoning") || part.text.length < MIN_LIFTED) return part;
    // Half a surrogate pair has no UTF-8; JSON can escape it.
    if (!part.text.isWellFormed()) return part;
    texts += part.text;
    return { ...part, text: part.text.length } as Lifted<P>;
  };
  const parts = message.parts.map((part) =>
    part.type === "tool-result" ? { ...part, output: part.output.map(lift) } : lift(part),
  );
  return texts === "" ? JSON.stringify(message) : `${JSON.stringify({ ...message, parts })}\n${texts}`;
}

/** Reads a message back; throws if it is not whole. */
export function unframeMessage(framed: string): Message {
  const end = framed.indexOf("\n");
  if (end === -1) return JSON.parse(framed);
  const message: Message = JSON.parse(framed.slice(0, end));
  let at = end + 1;
  const restore = (part: Lifted<Part>) => {
    if ((part.type !== "text" && part.type !== "reasoning") || typeof part.text !== "number") return;
    const length: number = part.text;
    part.text = framed.slice(at, at + length);
    at += length;
  };
  for (const part of message.parts) {
    if (part.type === "tool-result") part.output.forEach(restore);
    else restore(part as Lifted<Part>);
  }
  if (at === framed.length) return message;
  throw new LonghaulError(
    "STORE_CORRUPT",
    "The payload is damaged: its texts do not have the lengths it names.",
  );
}
