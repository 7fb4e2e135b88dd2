import type { MessageInput } from "../../index.ts";
import { ADDED_TAGS, buildTagPattern, getTagNames } from "../../model/message-tags.ts";
import { removeElements } from "../../model/remove-elements.ts";
import { buildCanonicalKey } from "./canonical-key.ts";
import { getMessageText } from "./request-facts.ts";

/** Context that clients add to a user message for one request and omit when they resume the conversation. */
const TEMPORARY_CONTEXT = new RegExp(`<(${buildTagPattern(ADDED_TAGS, "identity")})>`, "g");
/** Names without angle brackets, which some clients escape. */
const MARKS = getTagNames(ADDED_TAGS, "identity");

/**
 * The key by which a conversation is looked up: the key of its first message without the context added for one request.
 * `bytes` is the raw message; it is parsed only if it may contain such context.
 */
export function buildOpeningKey(
  first: { readonly key: string; input(): MessageInput },
  bytes: Buffer,
): string {
  if (!MARKS.some((mark) => bytes.includes(mark))) return first.key;
  const input = first.input();
  const words = getMessageText(input);
  const text = removeElements(words, TEMPORARY_CONTEXT, "").trim();
  if (text === "" || text === words.trim()) return first.key;
  const others = (input.parts ?? []).filter(({ type }) => type !== "text");
  return buildCanonicalKey({ role: input.role, text, parts: others });
}

/** The keys with the first one replaced by the opening key. */
export function replaceOpening(keys: readonly string[], opening: string): readonly string[] {
  return keys.length === 0 || keys[0] === opening ? keys : keys.with(0, opening);
}
