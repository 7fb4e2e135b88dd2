import { readNewestMessages } from "../../../kernel/calls/read-newest-messages.ts";
import { type Kernel, type MessageInput, parseEntryId, type SessionId } from "../../../kernel/index.ts";
import { type Role, textOfMessage } from "../../../model/message.ts";
import { getMessageText } from "../identity/request-kind.ts";
import { parseThreadMeta, type Thread } from "../thread/thread.ts";

/** Number of summaries by which restarted conversations are recognized. */
const MAX_SUMMARIES = 64;
/** Titles, summaries and other asides of a conversation, newest first, among which its last summary is looked for. */
const MAX_ASIDES = 16;
/** Shorter replies are not summaries of a conversation. */
const MIN_REPLY = 100;
/** Longer replies are not searched for in later requests. */
const MAX_REPLY = 200_000;

/** A reply that is a summary. */
interface KnownSummary {
  readonly owner: string;
  readonly text: string;
  /** The summarized conversation; undefined if it is not known. */
  readonly session: SessionId | undefined;
  /** True if another conversation has the same summary, which then says nothing about either. */
  readonly isShared: boolean;
}

/** The summaries that clients have made of their conversations, until they continue with them. */
export class ClientSummaries {
  #summaries: readonly KnownSummary[] = [];

  /** Adds a reply that is a summary. */
  add(owner: string, text: string, session: SessionId | undefined): void {
    const isOther = (known: KnownSummary) =>
      known.owner === owner && known.text === text && known.session !== session;
    const isShared = this.#summaries.some(isOther);
    const others = this.#summaries.map((known) => (isOther(known) ? { ...known, isShared } : known));
    this.#summaries = [{ owner, text, session, isShared }, ...others].slice(0, MAX_SUMMARIES);
  }

  /** Adds the newest summary of a stored conversation, if nothing was said since: its client is about to continue with it. */
  async restore(
    kernel: Pick<Kernel, "session" | "sessions">,
    owner: string,
    session: SessionId,
  ): Promise<void> {
    const asides = await kernel.sessions({ prefix: `${session}/`, limit: MAX_ASIDES });
    const compaction = asides.find(({ meta }) => parseThreadMeta(meta)?.kind === "compaction");
    if (!compaction) return;
    const [summary] = await readNewestMessages(kernel, compaction.id, 1);
    const [last] = await readNewestMessages(kernel, session, 1);
    if (summary?.message.role === "assistant" && last && summary.at >= last.at)
      this.add(owner, textOfMessage(summary.message), session);
  }

  /** The summary that a request with this opening continues from; none if several conversations have it. */
  find(
    owner: string,
    opening: () => readonly MessageInput[],
  ): Pick<KnownSummary, "text" | "session"> | undefined {
    const own = this.#summaries.filter((known) => known.owner === owner);
    const messages = own.length > 0 ? opening().map(toPlainMessage) : [];
    const [first, ...others] = own.filter(({ text }) => findPlainSummary(text, messages) !== undefined);
    if (!first || first.isShared) return undefined;
    return others.every(({ session, isShared }) => session === first.session && !isShared)
      ? first
      : undefined;
  }

  /** The last reply of a conversation, if a restarted conversation contains it in a message that is not the model's. */
  findReply(thread: Thread, opening: () => readonly MessageInput[]): ClientSummary | undefined {
    const text = thread.meta.kind === "main" ? thread.messages.lastReply : undefined;
    if (text === undefined || text.length < MIN_REPLY || text.length > MAX_REPLY) return undefined;
    const messages = opening();
    const index = findSummaryIndex(text, messages);
    return index !== undefined && messages[index]?.role !== "assistant" ? { text, thread } : undefined;
  }

  /** Forgets the summaries of a conversation whose client continues with one of them. */
  remove(thread: Thread): void {
    this.#summaries = this.#summaries.filter(({ session }) => session !== thread.session.id);
    thread.messages.lastReply = undefined;
  }
}
/** A client's own summary of a conversation, with which the client continues. */
export interface ClientSummary {
  readonly text: string;
  /** The summarized conversation. */
  readonly thread: Thread;
}

/**
 * Records the messages that a client's own summary replaces: adds an overlay on the old line, so that `expand` restores
 * everything, and a note for people. The overlay is reverted at once, because a client that returns to the old line
 * sends the messages it wants.
 */
export async function linkSummary({ text, thread }: ClientSummary, client: string): Promise<void> {
  const { session } = thread;
  const line = (await thread.conversation.readLineInTurn()).messages;
  const [first, last] = [line[0], line.at(-1)].map((message) => message && parseEntryId(message.id));
  if (!first || !last) return;
  const ranges =
    first.session === last.session
      ? [{ session: first.session, from: first.seq, to: last.seq }]
      : [{ session: session.id, from: 1, to: last.seq }];
  const { seq } = await session.overlays.add(
    { type: "summarize", ranges, messages: [{ role: "user", text }] },
    "the client compacted its conversation",
    client,
  );
  await session.overlays.revert(seq);
  await session.note(
    `${client} compacted ${line.length} messages by itself and goes on with its summary; expand #${seq} to read them.`,
  );
  thread.conversation.recordCompaction();
}

/**
 * A summary stands near the beginning of the conversation that continues from it, or before the first reply: some clients
 * put what people have said before it.
 */
const FIRST_MESSAGES = 6;
const MAX_OPENING = 200;
/** Shorter summaries could match any sentence. */
const MIN_LENGTH = 12;
/** Share of a summary that must be present; clients may cut it or leave sections out. */
const MIN_SHARE = 0.8;
const RUN_WORDS = 8;
const MAX_RUNS = 64;

/** True if a conversation contains the result of a compaction, even if the client has wrapped it in other text. */
export function hasSummary(summary: string, messages: readonly MessageInput[]): boolean {
  return findSummaryIndex(summary, messages) !== undefined;
}

/** Counts the first messages of a request in which a summary is looked for, given the roles of all its messages. */
export function countOpening(roles: readonly Role[]): number {
  const reply = roles.indexOf("assistant");
  return Math.max(FIRST_MESSAGES, Math.min(reply < 0 ? roles.length : reply, MAX_OPENING));
}

/** Index of the message that contains the result of a compaction; undefined if none does. */
export function findSummaryIndex(summary: string, messages: readonly MessageInput[]): number | undefined {
  const opening = messages.slice(0, countOpening(messages.map(({ role }) => role)));
  return findPlainSummary(summary, opening.map(toPlainMessage));
}

/** A message with its words as `normalizeWords` returns them. */
interface PlainMessage {
  readonly role: Role;
  readonly words: string;
}

function toPlainMessage(message: MessageInput): PlainMessage {
  return { role: message.role, words: normalizeWords(getMessageText(message)) };
}

function findPlainSummary(summary: string, messages: readonly PlainMessage[]): number | undefined {
  const forms = [summary, findTagged(summary), summary.replace(REASONING_TAGS, "")].flatMap((form) => {
    const plain = normalizeWords(form ?? "");
    return plain.length >= MIN_LENGTH ? [plain] : [];
  });
  if (forms.length === 0) return undefined;
  const place = messages.findIndex((message, index) =>
    forms.some((form) => isCarrying(message, index, form)),
  );
  return place < 0 ? undefined : place;
}

const REASONING_TAGS = /<(analysis|thinking|scratchpad)>[\s\S]*?<\/\1>/gi;

/** The text inside the tag that the client asked the summary to have. */
function findTagged(text: string): string | undefined {
  return /<(summary|state_snapshot|compacted?_\w+|handoff)>([\s\S]*?)<\/\1>/i.exec(text)?.[2];
}

function isCarrying({ role, words }: PlainMessage, index: number, summary: string): boolean {
  // The model may quote the same text; as a reply, the summary must be the whole message and near the beginning.
  if (role === "assistant") return index <= 2 && words === summary;
  return words.includes(summary) || computeRunShare(summary, words) >= MIN_SHARE;
}

/** Share of the word runs of a text that occur in another; 0 for texts too short to compare. */
function computeRunShare(text: string, other: string): number {
  const words = text.split(" ");
  const last = words.length - RUN_WORDS;
  if (last < RUN_WORDS) return 0;
  const step = Math.max(1, Math.floor(last / MAX_RUNS));
  let runs = 0;
  let found = 0;
  for (let from = 0; from <= last; from += step) {
    runs++;
    if (other.includes(words.slice(from, from + RUN_WORDS).join(" "))) found++;
  }
  return found / runs;
}

/** The words of a text in lower case, without tags, formatting marks and repeated white space. */
function normalizeWords(text: string): string {
  return text
    .replace(/<\/?[a-z][\w-]*>/gi, " ")
    .replace(/[#*_`>|-]+/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();
}
