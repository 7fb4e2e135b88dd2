import type { Json } from "./json.ts";

/** An administrative act. */
export interface AuditAct {
  readonly at: number;
  /** The person who acted: "@" and a name, "local", or "cli:" and the user of the operating system. */
  readonly actor: string;
  /** A verb with its object, such as "token.add". */
  readonly act: string;
  /** The person, session or setting that was acted on. */
  readonly target: string;
  /** Facts without content. */
  readonly details: { readonly [key: string]: Json };
}

/** The act of deleting an imported conversation; its target is the session. */
export const SESSION_DELETED = "session.delete";

/** The act of writing a copy of a conversation for an agent or into a file; its target is the session. */
export const SESSION_COPIED = "session.copy";

/** A recorded act. Each entry holds the digest of its predecessor, so that none can be changed or removed unseen. */
export interface AuditEntry extends AuditAct {
  /** 1 for the first. */
  readonly seq: number;
  /** Digest of the entry before; empty for the first. */
  readonly previous: string;
  readonly digest: string;
}
