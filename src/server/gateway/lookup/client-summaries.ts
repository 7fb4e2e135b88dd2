import type { StoredPlace } from "../../../kernel/faces/log.ts";
import {
  formatEntryId,
  type Kernel,
  type MessageInput,
  parseEntryId,
  type SessionId,
} from "../../../kernel/index.ts";
import { type Role, textOfMessage } from "../../../model/message.ts";
import type { PlaceKeys } from "../identity/conversation-keys.ts";
import { getMessageText } from "../identity/request-kind.ts";
import { simplifyWords } from "../identity/summary-runs.ts";
import { parseThreadMeta, type Thread } from "../thread/thread.ts";

/** Summaries that are compared with a request. */
const MAX_COMPARED = 32;
/** Shorter replies are not summaries of a conversation. */
const MIN_REPLY = 100;
/** Longer replies are not searched for in later requests. */
const MAX_REPLY = 200_000;
/** The fact of a compaction's session with the seq of the newest summary that its client has continued with. */
const CONTINUED = "continued summary";

/** A summary that a client has got, in the session of the request for it. */
export interface StoredSummary {
  readonly text: string;
  /** The summarized conversation; undefined if it is not known. */
  readonly main: SessionId | undefined;
  readonly session: SessionId;
  readonly seq: number;
}

/** The words of messages in which a summary is looked for. */
type Opening = () => readonly MessageInput[];

/**
 * The stored summary that a request with this opening continues from, by whichever gateway it was made. None if several
 * conversations have it, because it then says nothing about any; none with which the client has already continued.
 */
export async function findStoredSummary(
  kernel: Pick<Kernel, "find" | "places" | "session">,
  places: PlaceKeys,
  opening: Opening,
): Promise<StoredSummary | undefined> {
  if ((await kernel.places.find(places.findAnySummary(), 1)).length === 0) return undefined;
  const messages = opening().map(toPlainMessage);
  const found = await kernel.places.find(
    places.findSummaries(messages.map(({ words }) => words)),
    MAX_COMPARED,
  );
  const hits = Map.groupBy(found, ({ session, seq }) => formatEntryId(session, seq));
  const best = [...hits.values()]
    .toSorted((one, other) => other.length - one.length)
    .flatMap(([place]) => place ?? [])
    .slice(0, MAX_COMPARED);
  const fitting: StoredSummary[] = [];
  for (const place of best) {
    const summary = await readSummary(kernel, place);
    if (summary && findPlainSummary(summary.text, messages) !== undefined) fitting.push(summary);
  }
  const [first, ...others] = fitting;
  return others.every(({ main }) => main === first?.main) ? first : undefined;
}

async function readSummary(
  kernel: Pick<Kernel, "find" | "session">,
  { session: id, seq }: StoredPlace,
): Promise<StoredSummary | undefined> {
  const record = await kernel.find(id);
  const meta = parseThreadMeta(record?.meta);
  if (meta?.kind !== "compaction") return undefined;
  await using session = await kernel.session(id);
  if (seq <= Number((await session.facts.get(CONTINUED)) ?? 0)) return undefined;
  const entry = await session.entry(seq);
  if (entry?.kind !== "message") return undefined;
  return { text: textOfMessage(entry.message), main: meta.main ?? record?.parent, session: id, seq };
}

/** The last reply of a conversation, if a restarted conversation contains it in a message that is not the model's. */
export async function findReplySummary(thread: Thread, opening: Opening): Promise<string | undefined> {
  if (thread.kind !== "main") return undefined;
  const { messages, roles } = await thread.conversation.readLineInTurn();
  const last = messages[roles.lastIndexOf("assistant")];
  const entry = last && (await thread.session.entry(last.id));
  const text = entry?.kind === "message" ? textOfMessage(entry.message) : "";
  if (text.length < MIN_REPLY || text.length > MAX_REPLY) return undefined;
  const list = opening();
  const index = findSummaryIndex(text, list);
  return index !== undefined && list[index]?.role !== "assistant" ? text : undefined;
}

/** Records that the client has continued with a summary, so that no later request does so again. */
export async function recordContinued(
  kernel: Pick<Kernel, "session">,
  { session: id, seq }: Pick<StoredSummary, "session" | "seq">,
): Promise<void> {
  await using session = await kernel.session(id);
  await session.facts.change(CONTINUED, (known) => Math.max(seq, Number(known ?? 0)));
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

/** A message with its words as `simplifyWords` returns them. */
interface PlainMessage {
  readonly role: Role;
  readonly words: string;
}

function toPlainMessage(message: MessageInput): PlainMessage {
  return { role: message.role, words: simplifyWords(getMessageText(message)) };
}

function findPlainSummary(summary: string, messages: readonly PlainMessage[]): number | undefined {
  const forms = listSummaryForms(summary);
  if (forms.length === 0) return undefined;
  const place = messages.findIndex((message, index) =>
    forms.some((form) => isCarrying(message, index, form)),
  );
  return place < 0 ? undefined : place;
}

/** The normalized forms in which clients carry a summary on: whole, the content of its tag, without its reasoning. */
export function listSummaryForms(summary: string): readonly string[] {
  const forms = [summary, findTagged(summary), summary.replace(REASONING_TAGS, "")].map((form) =>
    simplifyWords(form ?? ""),
  );
  return [...new Set(forms)].filter(({ length }) => length >= MIN_LENGTH);
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
