import type { TextCodes } from "../text-codes.ts";
import { CONTEXT_SECRETS, type ContextSecret } from "./context-secrets.ts";
import { type FoundSecret, REDACTION_MARK } from "./found-secret.ts";
import { standsAt } from "./stands-at.ts";
import { Triples, tripleOf } from "./triples.ts";

/** Anchors grouped by their first three characters; the number of a group is its index plus one. */
const GROUPS = [
  ...Map.groupBy(
    CONTEXT_SECRETS.flatMap((secret, kind) =>
      secret.anchors.map((anchor) => ({ anchor: anchor.toLowerCase(), secret, kind })),
    ),
    ({ anchor }) => tripleOf(anchor),
  ).values(),
];
const ANCHORS = new Triples(
  GROUPS.flatMap((group, index) => group.map(({ anchor }) => [anchor, index + 1] as const)),
);

/** Finds secrets by their context, in linear time. */
export function findInContext(text: string, codes: TextCodes): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  /** End of the last match of each kind, because matches of one kind do not overlap. */
  const ends = new Int32Array(CONTEXT_SECRETS.length);
  for (let at = ANCHORS.next(codes, text.length, 0); at >= 0; at = ANCHORS.next(codes, text.length, at + 1)) {
    for (const { anchor, secret, kind } of GROUPS[ANCHORS.numberAt(codes, at) - 1] ?? []) {
      if (at < (ends[kind] as number) || !standsAt(codes, at, anchor)) continue;
      secret.pattern.lastIndex = at;
      const match = secret.pattern.exec(text);
      if (!match) continue;
      ends[kind] = secret.pattern.lastIndex;
      const one = secretIn(match, secret);
      if (one) found.push(one);
    }
  }
  return found;
}

function secretIn(match: RegExpExecArray, { kind, isSecret }: ContextSecret): FoundSecret | undefined {
  const rest = match.at(-1) ?? "";
  const head = match.length > 2 ? (match[1] ?? "") : "";
  const secret = head + rest;
  if (match[0].includes(REDACTION_MARK) || (isSecret && !isSecret(secret))) return undefined;
  // The `d` flag would give the position, but runs the pattern a second time.
  const from = match.index + match[0].lastIndexOf(rest) - head.length;
  return { kind, from, to: from + secret.length, isCertain: false };
}
