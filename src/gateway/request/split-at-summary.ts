import { countOverlap } from "../../conversation/align-messages.ts";
import type { LineMessage } from "../../conversation/line-cache.ts";
import type { MessageInput } from "../../index.ts";
import type { WireObject } from "../../wire/wire.ts";
import { buildCanonicalKey } from "../identity/canonical-key.ts";
import { buildSummaryElement } from "./client-summary-text.ts";
import type { CompactionBlocks, SummaryBlock } from "./find-compactions.ts";
import {
  type MessageReading,
  type RequestMessage,
  type RequestMessages,
  withMessageChanges,
} from "./request-messages.ts";

/** The messages of a request, without its compaction blocks. */
interface MessagesSinceSummary {
  /** Messages covered by the last summary, as the client has them. */
  readonly before: readonly RequestMessage[];
  readonly after: readonly RequestMessage[];
  /** All elements that contain blocks or precede the last block. */
  readonly dropped: ReadonlySet<number>;
}

/** Maximum number of messages that a client may repeat after a summary, to keep them word for word. */
const MAX_REPEATED = 64;

/** Splits the messages of a request at its last summary and removes all compaction blocks. */
export function splitAtSummary(
  reading: MessageReading,
  messages: RequestMessages,
  found: CompactionBlocks,
): MessagesSinceSummary {
  const { last, stripped: bare } = found;
  const before: RequestMessage[] = [];
  const after: RequestMessage[] = [];
  for (const message of messages.list) {
    const isMarked = bare.has(message.from);
    const bared = isMarked ? stripBlocks(reading, message, bare.get(message.from), last) : message;
    if (!bared) continue;
    const isBefore = last && (message.from < last.element || (message.from === last.element && !last.rest));
    (isBefore ? before : after).push(bared);
  }
  const dropped = new Set(bare.keys());
  for (let element = messages.lead; element < (last?.element ?? 0); element++) dropped.add(element);
  const again = last ? countRepeated(before, after, last) : 0;
  return { before: before.slice(0, before.length - again), after, dropped };
}

/** The messages of a client that keeps its history, or has only the summary. */
export function useClientHistory(
  reading: MessageReading,
  messages: RequestMessages,
  since: MessagesSinceSummary,
  last: SummaryBlock | undefined,
): RequestMessages {
  const { before, after } = since;
  return joinHistory(
    messages,
    since,
    before.length === 0 && last ? [toUserMessage(reading, last)] : before,
    after,
  );
}

/** The messages of a client that continues a logged line, with the logged messages in place of the client's copy. */
export function useLoggedHistory(
  messages: RequestMessages,
  since: MessagesSinceSummary,
  line: readonly LineMessage[],
  last: SummaryBlock,
): RequestMessages {
  const { before, after } = since;
  const known = line.map(({ key, role }, index): RequestMessage => {
    const own = before[index];
    if (own?.key === key) return own;
    return { key, role, index, from: 0, to: 0, input: () => ({ role }), isLogged: true };
  });
  return joinHistory(
    messages,
    since,
    known.slice(0, known.length - countRepeated(known, after, last)),
    after,
  );
}

function joinHistory(
  { cut, lead }: RequestMessages,
  { dropped }: MessagesSinceSummary,
  before: readonly RequestMessage[],
  after: readonly RequestMessage[],
): RequestMessages {
  const list = [...before, ...after].map((message, index) => withMessageChanges(message, { index }));
  const sent = new Set(list.flatMap(({ from, to }) => (to > from ? [from] : [])));
  const left = new Set([...dropped].filter((element) => !sent.has(element)));
  return { cut, lead, list, dropped: left };
}

/**
 * A message without its blocks; undefined if it has no other content. Content before a summary is stored, but not sent.
 */
function stripBlocks(
  { api, stored }: MessageReading,
  message: RequestMessage,
  bare: WireObject | undefined,
  last: SummaryBlock | undefined,
): RequestMessage | undefined {
  const input: MessageInput | undefined = bare && api.decode([bare])[0]?.input;
  if (!bare || !input) return undefined;
  const key = buildCanonicalKey(input);
  const { index, from, to } = message;
  const sent = (from === last?.element ? last.rest : undefined) ?? bare;
  return { key, role: input.role, index, from, to, input: () => stored(input, key), written: [sent] };
}

/** An unknown summary, as a user message that every provider accepts. */
function toUserMessage({ stored }: MessageReading, { text, element }: SummaryBlock): RequestMessage {
  const input: MessageInput = { role: "user", text };
  const key = buildCanonicalKey(input);
  return {
    key,
    role: "user",
    index: 0,
    from: element,
    to: element,
    input: () => stored(input, key),
    written: [buildSummaryElement(text)],
  };
}

/** Number of final messages before a summary that are repeated after it. */
function countRepeated(
  before: readonly RequestMessage[],
  after: readonly RequestMessage[],
  { rest }: SummaryBlock,
): number {
  // Content that the model wrote after the block is new, so nothing is repeated.
  if (rest) return 0;
  return countOverlap(
    before.slice(-MAX_REPEATED).map(({ key }) => key),
    after.slice(0, MAX_REPEATED).map(({ key }) => key),
  );
}
