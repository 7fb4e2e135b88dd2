import { createArgumentError } from "./errors.ts";
import type { Json } from "./json.ts";
import type { Part, PartInput } from "./part.ts";

export const ROLES = ["system", "user", "assistant", "tool"] as const;

export type Role = (typeof ROLES)[number];

/** One message of a conversation, as stored in the log. */
export interface Message {
  readonly role: Role;
  readonly parts: readonly Part[];
  /** Set on a streamed message whose writer died before finishing it. */
  readonly interrupted?: true;
  /** The model that wrote it. */
  readonly model?: string;
  /** For the caller's use; stored verbatim. */
  readonly meta?: { readonly [key: string]: Json };
}

/** A message to append: `text` is shorthand for one text part. */
export interface MessageInput {
  readonly role: Role;
  readonly text?: string;
  readonly parts?: readonly PartInput[];
  readonly model?: string;
  readonly meta?: { readonly [key: string]: Json };
  /** Keys under which the store finds the entry across sessions; not part of the message. */
  readonly places?: readonly string[];
}

/** All parts of a message, with tool results replaced by the parts inside them. */
export function flattenParts(message: Message): readonly Part[] {
  return requireParts(message).flatMap((part): readonly Part[] =>
    part.type === "tool-result" ? part.output : [part],
  );
}

/**
 * The text of a message: its text parts joined by line breaks. Large parts that became blobs contribute their preview.
 */
export function textOfMessage(message: Message): string {
  const texts = requireParts(message).flatMap((part) => {
    if (part.type === "text") return [part.text];
    return part.type === "blob" && part.of === "text" ? [part.preview ?? ""] : [];
  });
  return texts.join("\n");
}

/** The parts of a message; throws ARGUMENT_INVALID if it is not a message. */
export function requireParts(message: Message): readonly Part[] {
  if (Array.isArray(message?.parts)) return message.parts;
  throw createArgumentError("message", message, "a message with parts");
}
