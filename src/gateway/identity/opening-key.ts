import type { MessageInput } from "../../index.ts";
import { canonicalKey } from "./canonical-key.ts";
import { wordsOf } from "./request-facts.ts";

/** Context that clients add to a user message for one request and omit when they resume the conversation. */
const ASIDE = /<(system-reminder|environment_details|environment_context)>[\s\S]*?<\/\1>/g;
/** Names without angle brackets, which some clients escape. */
const MARKS = ["system-reminder", "environment_"];

/**
 * The key by which a conversation is looked up: the key of its first message without the context added for one request.
 * `bytes` is the raw message; it is parsed only if it may contain such context.
 */
export function openingKey(first: { readonly key: string; input(): MessageInput }, bytes: Buffer): string {
  if (!MARKS.some((mark) => bytes.includes(mark))) return first.key;
  const input = first.input();
  const words = wordsOf(input);
  const text = words.replace(ASIDE, "").trim();
  if (text === "" || text === words.trim()) return first.key;
  const others = (input.parts ?? []).filter(({ type }) => type !== "text");
  return canonicalKey({ role: input.role, text, parts: others });
}

/** The keys with the first one replaced by the opening key. */
export function withOpening(keys: readonly string[], opening: string): readonly string[] {
  return keys.length === 0 || keys[0] === opening ? keys : keys.with(0, opening);
}
