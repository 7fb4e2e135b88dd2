import { countOverlap } from "../../../kernel/calls/align-messages.ts";
import type { LineMessage } from "../../../kernel/calls/line-cache.ts";
import type { MessageInput } from "../../../kernel/index.ts";
import { computeDigest } from "../../../model/base/digest.ts";
import { findBlockSummary, isCompactionBlock } from "../../../wire/anthropic/compaction-block.ts";
import { toArray } from "../../../wire/fields.ts";
import type { WireObject } from "../../../wire/wire.ts";
import { buildCanonicalKey } from "../identity/canonical-key.ts";
import type { ByteRange, CutBody } from "./cut-body.ts";
import {
  type MessageReading,
  parseElement,
  type RequestMessage,
  type RequestMessages,
  withMessageChanges,
} from "./request-messages.ts";

/** The compaction blocks of a request. */
export interface CompactionBlocks {
  /** The last block with a summary; everything before it must not be sent. */
  readonly last: SummaryBlock | undefined;
  /** Elements that contain such blocks, without the blocks; undefined for elements with no other content. */
  readonly stripped: ReadonlyMap<number, WireObject | undefined>;
}

/** A compaction block with a summary. */
export interface SummaryBlock {
  readonly text: string;
  /** Index of the element that contains the block. */
  readonly element: number;
  /** The content after the block in that element; undefined if there is none. */
  readonly rest: WireObject | undefined;
}

const COMPACTION_NAME = Buffer.from('"compaction"');

/** Finds the compaction blocks of an Anthropic Messages request; undefined if there are none. */
export function findCompactions(cut: CutBody): CompactionBlocks | undefined {
  const bare = new Map<number, WireObject | undefined>();
  let last: SummaryBlock | undefined;
  for (const element of findNamingElements(cut)) {
    const own = parseElement(cut, element);
    const blocks = toArray(own.content);
    const others = blocks.filter((block) => !isCompactionBlock(block));
    if (others.length === blocks.length) continue;
    bare.set(element, replaceBlocks(own, others));
    const place = blocks.findLastIndex(
      (block) => isCompactionBlock(block) && findBlockSummary(block) !== undefined,
    );
    const text = findBlockSummary(blocks[place]);
    if (text === undefined) continue;
    const after = blocks.slice(place + 1).filter((block) => !isCompactionBlock(block));
    last = { text, element, rest: replaceBlocks(own, after) };
  }
  return bare.size === 0 ? undefined : { last, stripped: bare };
}

function replaceBlocks(element: WireObject, content: readonly unknown[]): WireObject | undefined {
  return content.length === 0 ? undefined : { ...element, content };
}

/** Elements that contain the name; only these are parsed. */
function findNamingElements(cut: CutBody): readonly number[] {
  const { bytes, elements, like, same } = cut;
  const earlier = like?.memo.compactionElements;
  const found = earlier?.filter((index) => index < same) ?? [];
  let index = earlier ? same : 0;
  const first = elements[index];
  const end = elements.at(-1)?.to ?? 0;
  for (let at = first ? bytes.indexOf(COMPACTION_NAME, first.from) : -1; at >= 0 && at < end; ) {
    while ((elements[index] as ByteRange).to <= at) index++;
    found.push(index);
    at = bytes.indexOf(COMPACTION_NAME, (elements[index] as ByteRange).to);
  }
  cut.memo.compactionElements = found;
  return found;
}

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

/** A summary as a user message, which every provider accepts. */
export function buildSummaryElement(content: string): WireObject {
  return { role: "user", content };
}

/** A key that is equal for summaries that differ only in white space. */
export function buildSummaryKey(text: string): string {
  return computeDigest(text.replace(/\s+/g, " ").trim(), 32);
}
