import type { Json } from "../../kernel/index.ts";
import type { ProblemItem } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** A message with its parts in order, independent of opencode's storage. */
export interface StoredMessage {
  readonly info: JsonObject;
  readonly parts: readonly unknown[];
}

/** Items of a reader, in this order: the session, its messages, other data. */
export type StoredItem =
  | { readonly type: "session"; readonly info: JsonObject }
  | { readonly type: "message"; readonly message: StoredMessage }
  /** Other data of the session in its current state. */
  | { readonly type: "other"; readonly name: string; readonly value: Json }
  | ProblemItem;
