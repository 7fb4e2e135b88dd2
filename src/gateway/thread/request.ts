import type { MessageInput, Role } from "../../index.ts";
import type { RequestFacts } from "../identity/request-facts.ts";
import type { Shape } from "../identity/shape.ts";
import type { Caller } from "./names.ts";

/** What is known of a request before its thread is. */
export interface Request {
  readonly caller: Caller;
  readonly shape: Shape;
  /** What each message says, and who. */
  readonly keys: readonly string[];
  /** The key by which conversations are looked for that begin as it does. */
  readonly firstKey: string;
  readonly roles: readonly Role[];
  /** The messages between the first and the last few may be empty. */
  readonly facts: RequestFacts;
  /** The first few messages, read only where a summary is looked for. */
  readonly opening: () => readonly MessageInput[];
  /** True if it goes on with the one conversation of its id, whatever it says. */
  readonly isMain?: boolean;
}
