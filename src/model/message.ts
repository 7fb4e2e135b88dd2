import type { Json } from "./json.ts";
import type { Part, PartInput } from "./part.ts";

/** Who can speak. */
export const ROLES = ["system", "user", "assistant", "tool"] as const;

/** Who speaks. */
export type Role = (typeof ROLES)[number];

/** One message of a conversation, as the log holds it. */
export interface Message {
  readonly role: Role;
  readonly parts: readonly Part[];
  /** Set on a streamed message whose writer died before finishing it. */
  readonly interrupted?: true;
  /** The model that wrote it. */
  readonly model?: string;
  /** Free for the caller; kept verbatim. */
  readonly meta?: { readonly [key: string]: Json };
}

/** A message on its way in: `text` is shorthand for one text part. */
export interface MessageInput {
  readonly role: Role;
  readonly text?: string;
  readonly parts?: readonly PartInput[];
  readonly model?: string;
  readonly meta?: { readonly [key: string]: Json };
}
