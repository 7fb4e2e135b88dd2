import { Conversation } from "../../../kernel/calls/conversation.ts";
import type { LineMessage } from "../../../kernel/calls/line-cache.ts";
import type { SeqRange } from "../../../kernel/faces/log.ts";
import {
  type EntryId,
  type Kernel,
  parseEntryId,
  type SessionId,
  textOfMessage,
} from "../../../kernel/index.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import { toObject } from "../../../wire/fields.ts";
import { getMessageKey } from "../identity/canonical-key.ts";
import { listPersonIds, type PersonIds } from "../identity/person-ids.ts";
import { buildPlainPieces } from "../outgoing/outgoing-pieces.ts";
import {
  buildSummaryKey,
  type SummaryBlock,
  splitAtSummary,
  useClientHistory,
  useLoggedHistory,
} from "../request/find-compactions.ts";
import type { MessageReading, RequestMessage, RequestMessages } from "../request/request-messages.ts";
import type { CallRequest } from "../thread/call-request.ts";
import type { Thread } from "../thread/thread.ts";

type CompactedServices = { readonly compactions: KnownCompactions } & Pick<MessageReading, "stored">;

/** A request with compaction blocks for an upstream that does not support them. */
interface CompactedRequest {
  /** The messages by which the conversation is found. */
  readonly messages: RequestMessages;
  /** The request to make of the thread that was found. */
  toCallRequest(thread: Thread): CallRequest;
}

/**
 * Reads a request with compaction blocks; undefined for a request without. A summary from this gateway continues its
 * conversation, whatever messages the client has kept. Any other summary replaces the client's messages before it.
 */
export async function readCompactedRequest(
  callRequest: CallRequest,
  principal: PersonIds,
  { compactions, stored }: CompactedServices,
): Promise<CompactedRequest | undefined> {
  const { api, messages, compactions: found } = callRequest;
  if (!found) return undefined;
  const reading = { api, stored };
  const since = splitAtSummary(reading, messages, found);
  const { last } = found;
  const own = useClientHistory(reading, messages, since, last);
  const known = last && (await compactions.find(principal, last.text));
  const line = known && (await compactions.readLine(known));
  // Another conversation may have the same summary; the messages that the client has kept tell them apart.
  const isOwn = line !== undefined && containsInOrder(line, since.before);
  const logged = isOwn ? useLoggedHistory(messages, since, line, last as SummaryBlock) : undefined;
  const plain = () => buildPlainPieces(messages.cut, found);
  return {
    messages: logged ?? own,
    toCallRequest(thread) {
      if (logged && known?.session === thread.session.id) {
        compactions.remember(thread);
        return { ...callRequest, messages: logged, buildPlainPieces: plain };
      }
      const { length } = since.before;
      if (!last || length === 0) return { ...callRequest, messages: own, buildPlainPieces: plain };
      const onTaken = async () => {
        const afterEntry = await summarizeBefore(thread, last.text, length);
        if (afterEntry !== undefined && !isOwn)
          await compactions.store(principal, last.text, thread, afterEntry);
      };
      return { ...callRequest, messages: own, buildPlainPieces: plain, onStored: onTaken };
    },
  };
}

/** True if a line contains all of the messages, in their order. */
function containsInOrder(line: readonly LineMessage[], messages: readonly RequestMessage[]): boolean {
  let place = 0;
  for (const { key } of messages) {
    while (place < line.length && line[place]?.key !== key) place++;
    if (place++ >= line.length) return false;
  }
  return true;
}

/** The position of a summary. */
interface SummaryPosition {
  /** The conversation that was summarized. */
  readonly session: SessionId;
  /** The last message covered by the summary. */
  readonly afterEntry: EntryId;
}

const MAX_KNOWN = 1_000;

/**
 * The summaries that clients received, by their text: a client that has nothing else left continues the same
 * conversation. The position is a fact of the session, named after the summary, so that any gateway finds it. A summary
 * that two conversations have belongs to neither.
 */
export class KnownCompactions {
  readonly #kernel: Kernel;
  /** Threads with summaries, so that their lines need not be read again. */
  readonly #threads = new BoundedMap<SessionId, WeakRef<Thread>>({ max: MAX_KNOWN });

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** The position of a summary; undefined for a summary made elsewhere, or in several conversations. */
  async find(principal: PersonIds, text: string): Promise<SummaryPosition | undefined> {
    for (const id of listPersonIds(principal)) {
      const fact = await this.#kernel.findFact(buildFactName(id, text));
      const afterEntry = toObject(fact?.value)?.behind;
      if (fact) return typeof afterEntry === "string" ? { session: fact.session, afterEntry } : undefined;
    }
    return undefined;
  }

  /** The messages of the conversation up to that position; undefined if the line no longer contains it. */
  async readLine({ session: id, afterEntry }: SummaryPosition): Promise<readonly LineMessage[] | undefined> {
    const thread = this.#threads.get(id)?.deref();
    if (thread && !thread.isClosed)
      return sliceUpTo((await thread.conversation.readLineInTurn()).messages, afterEntry);
    await using session = await this.#kernel.session(id);
    return sliceUpTo((await new Conversation(session, getMessageKey).readLine()).messages, afterEntry);
  }

  /** Stores the position of a summary, before the client gets it. */
  async store(principal: PersonIds, text: string, thread: Thread, afterEntry: EntryId): Promise<void> {
    const before = await this.find(principal, text);
    const { session } = thread;
    if (before?.session === session.id && before.afterEntry === afterEntry) return;
    const name = buildFactName(principal.id, text);
    const fact = await this.#kernel.findFact(name);
    if (fact?.value === null) return;
    this.remember(thread);
    if (await session.facts.claim(name, { behind: afterEntry })) return;
    const other = fact ?? (await this.#kernel.findFact(name));
    if (!other) return;
    await using owner = await this.#kernel.session(other.session);
    await owner.facts.claim(name, null);
  }

  /** Remembers the thread of a summary, so that its line need not be read again. */
  remember(thread: Thread): void {
    this.#threads.set(thread.session.id, new WeakRef(thread));
  }
}

/** Includes the principal, so that principals never share summaries. */
function buildFactName(principal: string, text: string): string {
  return `gateway compaction ${principal} ${buildSummaryKey(text)}`;
}

function sliceUpTo(line: readonly LineMessage[], last: EntryId): readonly LineMessage[] | undefined {
  const place = line.findLastIndex(({ id }) => id === last);
  return place < 0 ? undefined : line.slice(0, place + 1);
}

const MAX_OVERLAYS = 1_000;

/**
 * Replaces the first messages of a thread by a client's summary; the messages stay in the log. Does so only once, even
 * if the summary was reverted. Returns the entry of the last replaced message. Must be called in the thread's turn.
 */
async function summarizeBefore(
  { session, conversation }: Thread,
  text: string,
  messageCount: number,
): Promise<EntryId | undefined> {
  const line = (await conversation.readLine()).messages.slice(0, messageCount);
  const last = line.at(-1);
  if (!last) return undefined;
  const overlays = await session.overlays.list(MAX_OVERLAYS);
  const isThere = overlays.some(({ entry: { edit } }) => {
    const made = edit.type === "summarize" ? (edit.messages ?? []) : [];
    return made.some((message) => textOfMessage(message) === text);
  });
  if (!isThere)
    await session.overlays.add(
      { type: "summarize", ranges: toRanges(line), messages: [{ role: "user", text }] },
      "the client goes on from a summary that it was given elsewhere",
      "client",
    );
  return last.id;
}

/** Entries of consecutive messages as ranges; the first ones of a fork are in the log of another session. */
function toRanges(line: readonly LineMessage[]): readonly SeqRange[] {
  const ranges: SeqRange[] = [];
  for (const { id } of line) {
    const { session, seq } = parseEntryId(id);
    const range = ranges.at(-1);
    if (range?.session === session && range.to < seq)
      ranges[ranges.length - 1] = { session, from: range.from, to: seq };
    else ranges.push({ session, from: seq, to: seq });
  }
  return ranges;
}
