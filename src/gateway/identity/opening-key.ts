import type { MessageInput } from "../../index.ts";
import { canonicalKey } from "./canonical-key.ts";
import { wordsOf } from "./request-facts.ts";

/** What clients put around the words of a person for one request only, and leave out when a conversation is resumed. */
const ASIDE = /<(system-reminder|environment_details|environment_context)>[\s\S]*?<\/\1>/g;
/** Some clients write angle brackets as escapes. */
const MARKS = ["system-reminder", "environment_"];

/**
 * The key by which a conversation is looked for: that of its first message, without what was said beside it for one
 * request only. `bytes` are the message as it came; where no such thing can be in them, nothing is read.
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

/** Keys of messages, of which the first counts as the same whatever was said beside it. */
export function withOpening(keys: readonly string[], opening: string): readonly string[] {
  return keys.length === 0 || keys[0] === opening ? keys : keys.with(0, opening);
}
