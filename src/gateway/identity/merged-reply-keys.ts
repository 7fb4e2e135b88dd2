import type { Message, Part } from "../../index.ts";
import { findAudio } from "../../wire/openai-chat/openai-chat-media-fields.ts";
import { buildCanonicalKey } from "./canonical-key.ts";

/** Ways in which clients join a text and its continuation. */
const SEAMS: readonly ((one: string, next: string) => string)[] = [
  (one, next) => one + next,
  (one, next) => one.trimEnd() + next,
  (one, next) => one.trimEnd() + next.trimStart(),
];

/**
 * Keys of the message by which clients represent one reply or several consecutive replies, in every form that clients
 * use: some keep only the words of a spoken reply.
 */
export function buildMergedKeys(replies: readonly Message[]): readonly string[] {
  const inWords = replies.map((reply) => ({
    ...reply,
    parts: reply.parts.filter((part) => !findAudio(part)),
  }));
  return [...new Set([...buildKeys(replies), ...buildKeys(inWords)])];
}

function buildKeys(replies: readonly Message[]): readonly string[] {
  const [first, ...others] = replies;
  if (!first) return [];
  const keyOf = (parts: readonly Part[]) => buildCanonicalKey({ ...first, parts });
  const inText = SEAMS.map((seam) =>
    keyOf(others.reduce((parts, { parts: next }) => joinParts(parts, next, seam), first.parts)),
  );
  return [...inText, keyOf(replies.flatMap(({ parts }) => parts))];
}

/** Joins two lists of parts; the last text of the first continues with the first text of the second. */
function joinParts(
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
