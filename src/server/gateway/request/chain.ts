import type { ProviderFailure } from "../../../kernel/faces/window.ts";
import type { EntryId, MessageInput } from "../../../kernel/index.ts";
import { toObject } from "../../../wire/fields.ts";
import type { Wire, WireObject } from "../../../wire/wire.ts";

/** The stored state at the provider that a request continues while it contains only new messages. */
export interface Chain {
  /** The entry that the request follows; undefined for the end of the conversation. */
  readonly afterEntry?: EntryId;
  /** True if the log contains everything said before; "perhaps" if clients may have bypassed the gateway. */
  readonly isWhole: boolean | "perhaps";
  /** Id of the response that the conversation's first instructions are stored with. */
  readonly lead?: string;
  /** The end of the reply before, if the client has not seen it. */
  readonly hidden?: HiddenEnd;
  /** The instructions that were among the items of the first request. */
  readonly leadMessages: () => Promise<readonly MessageInput[]>;
}

/** The actual end of a reply that the client saw only in part; the provider needs it when the client continues. */
export interface HiddenEnd {
  /** Id of the reply that the conversation actually ended with. */
  readonly last: string;
  /** Ids of unanswered calls of the gateway's tools in that reply. */
  readonly unanswered: readonly string[];
}

/** Fields by which a request continues the provider's stored state. */
export const CHAIN_FIELDS = ["previous_response_id", "conversation"];

/**
 * The reply that a request continues: a response in OpenAI's Responses API, a message of a thread in Anthropic's
 * Messages API, an interaction of Google.
 */
export function findPreviousReply(
  { name }: Wire,
  { previous_response_id, previous_interaction_id, thread }: WireObject,
): string | undefined {
  if (name === "google")
    return typeof previous_interaction_id === "string" ? previous_interaction_id : undefined;
  if (name === "anthropic") {
    const { type, previous_message_id: previous } = toObject(thread) ?? {};
    return type === "continue" && typeof previous === "string" ? previous : undefined;
  }
  const isNamed = name === "openai-responses" && typeof previous_response_id === "string";
  return isNamed ? previous_response_id : undefined;
}

/** True if a request contains only new messages. */
export function isChained(api: Wire, fields: WireObject): boolean {
  if (findPreviousReply(api, fields) !== undefined) return true;
  const { conversation } = fields;
  return api.name === "openai-responses" && conversation !== undefined && conversation !== null;
}

/** True if a later request with only new messages may refer to the reply of this one. */
export function isStoredByProvider({ name, path }: Wire, { thread }: WireObject): boolean {
  if (path === "/interactions") return true;
  return name === "openai-responses" || (name === "anthropic" && toObject(thread) !== undefined);
}

const MISSING_STATUSES: readonly (number | undefined)[] = [undefined, 400, 404, 410, 422, 501];
const MAX_LENGTH = 20_000;

/**
 * True if a provider refused a request because of the response that it refers to: it has expired, was never stored,
 * belongs to another account, or the provider stores none. Also true if calls of the gateway's tools in it, which the
 * client has not seen, lack results.
 */
export function isPreviousMissing({ status, body, message = "" }: ProviderFailure): boolean {
  if (!MISSING_STATUSES.includes(status)) return false;
  const text = `${typeof body === "string" ? body : JSON.stringify(body)} ${message}`.slice(0, MAX_LENGTH);
  return /previous[ _-]?response|response with id\b.{0,200}\bnot found|no tool output found for function call/i.test(
    text,
  );
}

/** True if the provider counted about as many tokens as the log contains, so that it knows no more than the log. */
export function isLogWhole(loggedTokens: number, countedTokens: number | undefined): boolean {
  return countedTokens !== undefined && countedTokens <= 2 * loggedTokens + 4_000;
}
