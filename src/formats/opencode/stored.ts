import type { Json } from "../../index.ts";
import type { ProblemItem } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** A message with its parts in their order, from whatever shape opencode keeps them in. */
export interface StoredMessage {
  readonly info: JsonObject;
  readonly parts: readonly unknown[];
}

/** What a reader finds, in this order: the session, its messages, what belongs to neither. */
export type Stored =
  | { readonly type: "session"; readonly info: JsonObject }
  | { readonly type: "message"; readonly message: StoredMessage }
  /** Something else that is kept of the session, as it is now. */
  | { readonly type: "other"; readonly name: string; readonly value: Json; readonly version: string }
  | ProblemItem;
