import { overlap } from "../../conversation/align.ts";
import type { LineMessage } from "../../conversation/known-line.ts";
import type { MessageInput } from "../../index.ts";
import type { JsonObject } from "../api/api.ts";
import { changedMessage, type Reading, type WireMessage, type WireMessages } from "../body/wire-message.ts";
import { canonicalKey } from "../identity/canonical-key.ts";
import type { FoundCompaction, FoundCompactions } from "./find-compactions.ts";
import { summaryElement } from "./summary.ts";

/** The messages of a request, without its compaction blocks. */
export interface SaidSince {
  /** Messages covered by the last summary, as the client has them. */
  readonly before: readonly WireMessage[];
  readonly after: readonly WireMessage[];
  /** All elements that contain blocks or precede the last block. */
  readonly dropped: ReadonlySet<number>;
}

/** Maximum number of messages that a client may repeat after a summary, to keep them word for word. */
const MOST_AGAIN = 64;

/** Splits the messages of a request at its last summary and removes all compaction blocks. */
export function saidSince(reading: Reading, said: WireMessages, found: FoundCompactions): SaidSince {
  const { last, bare } = found;
  const before: WireMessage[] = [];
  const after: WireMessage[] = [];
  for (const message of said.messages) {
    const isMarked = bare.has(message.from);
    const bared = isMarked ? withoutBlocks(reading, message, bare.get(message.from), last) : message;
    if (!bared) continue;
    const isBefore = last && (message.from < last.element || (message.from === last.element && !last.behind));
    (isBefore ? before : after).push(bared);
  }
  const dropped = new Set(bare.keys());
  for (let element = said.lead; element < (last?.element ?? 0); element++) dropped.add(element);
  const again = last ? saidAgain(before, after, last) : 0;
  return { before: before.slice(0, before.length - again), after, dropped };
}

/** The messages of a client that keeps its history, or has only the summary. */
export function withOwnHistory(
  reading: Reading,
  said: WireMessages,
  since: SaidSince,
  last: FoundCompaction | undefined,
): WireMessages {
  const { before, after } = since;
  return joined(said, since, before.length === 0 && last ? [asUser(reading, last)] : before, after);
}

/** The messages of a client that continues a logged line, with the logged messages in place of the client's copy. */
export function withLoggedHistory(
  said: WireMessages,
  since: SaidSince,
  line: readonly LineMessage[],
  last: FoundCompaction,
): WireMessages {
  const { before, after } = since;
  const known = line.map(({ key, role }, index): WireMessage => {
    const own = before[index];
    if (own?.key === key) return own;
    return { key, role, index, from: 0, to: 0, input: () => ({ role }), isLogged: true };
  });
  return joined(said, since, known.slice(0, known.length - saidAgain(known, after, last)), after);
}

function joined(
  { cut, lead }: WireMessages,
  { dropped }: SaidSince,
  before: readonly WireMessage[],
  after: readonly WireMessage[],
): WireMessages {
  const messages = [...before, ...after].map((message, index) => changedMessage(message, { index }));
  const sent = new Set(messages.flatMap(({ from, to }) => (to > from ? [from] : [])));
  const left = new Set([...dropped].filter((element) => !sent.has(element)));
  return { cut, lead, messages, left };
}

/**
 * A message without its blocks; undefined if it has no other content. Content before a summary is stored, but not sent.
 */
function withoutBlocks(
  { api, stored }: Reading,
  message: WireMessage,
  bare: JsonObject | undefined,
  last: FoundCompaction | undefined,
): WireMessage | undefined {
  const input: MessageInput | undefined = bare && api.decode([bare])[0]?.input;
  if (!bare || !input) return undefined;
  const key = canonicalKey(input);
  const { index, from, to } = message;
  const sent = (from === last?.element ? last.behind : undefined) ?? bare;
  return { key, role: input.role, index, from, to, input: () => stored(input, key), written: [sent] };
}

/** An unknown summary, as a user message that every provider accepts. */
function asUser({ stored }: Reading, { text, element }: FoundCompaction): WireMessage {
  const input: MessageInput = { role: "user", text };
  const key = canonicalKey(input);
  return {
    key,
    role: "user",
    index: 0,
    from: element,
    to: element,
    input: () => stored(input, key),
    written: [summaryElement(text)],
  };
}

/** Number of final messages before a summary that are repeated after it. */
function saidAgain(
  before: readonly WireMessage[],
  after: readonly WireMessage[],
  { behind }: FoundCompaction,
): number {
  // Content that the model wrote after the block is new, so nothing is repeated.
  if (behind) return 0;
  return overlap(
    before.slice(-MOST_AGAIN).map(({ key }) => key),
    after.slice(0, MOST_AGAIN).map(({ key }) => key),
  );
}
