import { objectOf } from "../../formats/content/fields.ts";
import type { EntryId, MessageInput, ProviderFailure } from "../../index.ts";
import type { Api, JsonObject } from "../api/api.ts";

/** What a request goes on from, where the provider keeps that and the request says only what is new. */
export interface Chain {
  /** The conversation's entry that it goes on behind; undefined if that is simply its end. */
  readonly behind?: EntryId;
  /** Whether the log holds all that was said before; "perhaps" where clients can also say things past the gateway. */
  readonly isWhole: boolean | "perhaps";
  /** The response that the conversation's first instructions are kept with. */
  readonly lead?: string;
  /** Those instructions, as far as they stood among the items of its first request. */
  readonly leadMessages: () => Promise<readonly MessageInput[]>;
}

/** Fields by which a request goes on from what the provider keeps. */
export const CHAIN_FIELDS = ["previous_response_id", "conversation"];

/** The reply that a request goes on from: OpenAI's Responses name a response, Anthropic's Messages a message of a thread. */
export function previousOf({ name }: Api, { previous_response_id, thread }: JsonObject): string | undefined {
  if (name === "anthropic") {
    const { type, previous_message_id: previous } = objectOf(thread) ?? {};
    return type === "continue" && typeof previous === "string" ? previous : undefined;
  }
  const isNamed = name === "openai-responses" && typeof previous_response_id === "string";
  return isNamed ? previous_response_id : undefined;
}

/** True if a request says only what is new. */
export function isChained(api: Api, fields: JsonObject): boolean {
  if (previousOf(api, fields) !== undefined) return true;
  const { conversation } = fields;
  return api.name === "openai-responses" && conversation !== undefined && conversation !== null;
}

/** True if the reply to a request may be named by a later one that says only what is new. */
export function isKeptThere({ name }: Api, { thread }: JsonObject): boolean {
  return name === "openai-responses" || (name === "anthropic" && objectOf(thread) !== undefined);
}

const STATUSES: readonly (number | undefined)[] = [undefined, 400, 404, 410, 422, 501];
const MOST_LENGTH = 20_000;

/**
 * True if a provider refused a request for the response that it names: it has expired, was never stored, is of another
 * account, or the provider keeps none. Also where calls of ours in it, which the client has not seen, wait for results.
 */
export function isPreviousMissing({ status, body, message = "" }: ProviderFailure): boolean {
  if (!STATUSES.includes(status)) return false;
  const text = `${typeof body === "string" ? body : JSON.stringify(body)} ${message}`.slice(0, MOST_LENGTH);
  return /previous[ _-]?response|response with id\b.{0,200}\bnot found|no tool output found for function call/i.test(
    text,
  );
}

/** True if a provider counted about as many tokens as the log has: then it knows no more than the log does. */
export function isLogWhole(loggedTokens: number, countedTokens: number | undefined): boolean {
  return countedTokens !== undefined && countedTokens <= 2 * loggedTokens + 4_000;
}
