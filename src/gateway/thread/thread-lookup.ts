import type { MessageInput, Role } from "../../index.ts";
import type { AgentShape } from "../identity/agent-shape.ts";
import type { KeyedMessages } from "../identity/align-request.ts";
import { replaceOpening } from "../identity/opening-key.ts";
import type { RequestFacts } from "../identity/request-facts.ts";
import type { CallerIdentity } from "../identity/session-ids.ts";

/** Facts of a request that are known before its thread. */
export interface ThreadLookup {
  readonly caller: CallerIdentity;
  readonly shape: AgentShape;
  /** Keys of the messages. */
  readonly keys: readonly string[];
  /** The key by which conversations with the same beginning are looked up. */
  readonly firstKey: string;
  readonly roles: readonly Role[];
  /** Messages between the first and the last few may be empty. */
  readonly facts: RequestFacts;
  /** The first few messages; parsed only when a summary is searched for. */
  readonly opening: () => readonly MessageInput[];
  /** True if it continues the only conversation of its id, regardless of its messages. */
  readonly isMain?: boolean;
}

/** The messages by which a request is compared with threads; without an id, the first one by its opening. */
export function getComparedMessages({ keys, roles, firstKey, caller }: ThreadLookup): KeyedMessages {
  return { keys: caller.explicit === undefined ? replaceOpening(keys, firstKey) : keys, roles };
}
