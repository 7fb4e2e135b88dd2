import { soundIn } from "../../formats/content/openai-chat-media-fields.ts";
import type { Message, Part } from "../../index.ts";
import { canonicalKey } from "./canonical-key.ts";

/** How clients put two texts together of which the second goes on with the first. */
const SEAMS: readonly ((one: string, next: string) => string)[] = [
  (one, next) => one + next,
  (one, next) => one.trimEnd() + next,
  (one, next) => one.trimEnd() + next.trimStart(),
];

/**
 * Keys of one message that says what several replies in a row say, or a single one, in each form that clients keep it in:
 * of what was said aloud, some keep the words.
 */
export function joinedKeys(replies: readonly Message[]): readonly string[] {
  const inWords = replies.map((reply) => ({ ...reply, parts: reply.parts.filter((part) => !soundIn(part)) }));
  return [...new Set([...keysOf(replies), ...keysOf(inWords)])];
}

function keysOf(replies: readonly Message[]): readonly string[] {
  const [first, ...others] = replies;
  if (!first) return [];
  const keyOf = (parts: readonly Part[]) => canonicalKey({ ...first, parts });
  const inText = SEAMS.map((seam) =>
    keyOf(others.reduce((parts, { parts: next }) => joinedParts(parts, next, seam), first.parts)),
  );
  return [...inText, keyOf(replies.flatMap(({ parts }) => parts))];
}

/** Parts of which the last text goes on with the first one of the next. */
function joinedParts(
  parts: readonly Part[],
  next: readonly Part[],
  seam: (one: string, next: string) => string,
): readonly Part[] {
  const last = parts.findLastIndex(({ type }) => type === "text");
  const first = next.findIndex(({ type }) => type === "text");
  const [one, two] = [parts[last], next[first]];
  if (one?.type !== "text" || two?.type !== "text") return [...parts, ...next];
  return [...parts.with(last, { ...one, text: seam(one.text, two.text) }), ...next.toSpliced(first, 1)];
}
