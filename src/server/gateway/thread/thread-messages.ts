import type { Aligner } from "../../../kernel/calls/align-messages.ts";
import type { Conversation, PlacedMessages } from "../../../kernel/calls/conversation.ts";
import { type CachedLine, continuesLine } from "../../../kernel/calls/line-cache.ts";
import type { Blobs } from "../../../kernel/faces/log.ts";
import { listCallIds, type MessageInput, type Role, type Session } from "../../../kernel/index.ts";
import { pairGoogleResults } from "../../../wire/google/google-parts.ts";
import type { LoggedContent } from "../../../wire/wire.ts";
import { getMessageKey } from "../identity/canonical-key.ts";
import { alignRequest } from "../identity/choose-thread.ts";
import type { PlaceKeys } from "../identity/conversation-keys.ts";
import { getMessageText, toStableText } from "../identity/request-kind.ts";
import {
  type RequestMessage,
  type RequestMessages,
  withMessageChanges,
} from "../request/request-messages.ts";
import { type AskedRequests, findQuestion, OvertakenRequest } from "./asked-requests.ts";
import type { CallRequest } from "./call-request.ts";
import { type LoggedCalls, MergedReplies, restoreCallIds } from "./logged-replies.ts";
import { createLoggedContent } from "./response-ids.ts";

const REMINDER_PREFIX = "Said by the client for one request only:\n";

/** Dependencies of `ThreadMessages`. */
interface ThreadMessagesDeps {
  readonly blobs: Pick<Blobs, "bytes" | "restore" | "restoreMessage" | "restoreReadable">;
  readonly stored: (message: MessageInput, key: string) => MessageInput;
  readonly prepareStored: (messages: readonly MessageInput[]) => Promise<void>;
  readonly onReply: ((text: string) => Promise<void>) | undefined;
  readonly asked: AskedRequests;
}

/** The part of the progress of a thread that its messages change. */
interface QuestionProgress {
  isOvertaken(seq: number): boolean;
  recordAsked(seq: number, written: readonly number[] | undefined): Promise<void>;
}

/** The way of a thread's messages and replies to its log. */
export class ThreadMessages {
  /** Access to large contents. */
  readonly content: LoggedContent;
  readonly mergedReplies: MergedReplies;
  readonly #session: Session;
  readonly #conversation: Conversation<RequestMessage>;
  /** Redacts large messages in a worker, so that `toStored` finds them ready. */
  readonly prepareStored: ThreadMessagesDeps["prepareStored"];
  readonly toStored: ThreadMessagesDeps["stored"];
  readonly #onReply: ThreadMessagesDeps["onReply"];
  /** The calls of the last reply, once they are known. */
  #lastCalls: LoggedCalls | undefined;
  readonly #asked: AskedRequests;
  readonly #progress: QuestionProgress;
  readonly #reminders = new Reminders();
  /** Number of final messages of a request that were stored as notes. */
  readonly #noted = new WeakMap<RequestMessages, number>();

  constructor(
    session: Session,
    conversation: Conversation<RequestMessage>,
    deps: ThreadMessagesDeps,
    progress: QuestionProgress,
  ) {
    this.#session = session;
    this.#asked = deps.asked;
    this.#progress = progress;
    this.#conversation = conversation;
    this.prepareStored = deps.prepareStored;
    this.toStored = deps.stored;
    this.#onReply = deps.onReply;
    this.content = createLoggedContent(deps.blobs);
    this.mergedReplies = new MergedReplies(session, deps.blobs);
  }

  /** Splits replies that the client has joined, so that the request matches the line. */
  async split(request: RequestMessages): Promise<RequestMessages> {
    const line = await this.#conversation.readLineInTurn();
    return continuesLine(line, request.list) ? request : this.mergedReplies.split(request, line);
  }

  /** Appends the messages of a request to the log. */
  async append({ api, messages, chain, places }: CallRequest): Promise<PlacedMessages<RequestMessage>> {
    const line = await this.#conversation.readLine();
    if (chain) {
      const given =
        line.messages.length === 0
          ? addPlaces(messages.list, 0, places && (() => places.listOfOpening()))
          : messages.list;
      const { afterEntry } = chain;
      const marked = this.#markAsked(given, places);
      const taken =
        afterEntry === undefined
          ? this.#conversation.takeNewMessages(marked)
          : this.#conversation.takeMessagesAfter(afterEntry, marked);
      return this.#recordAsked(await taken);
    }
    const { list } = messages;
    const mayNote = this.#reminders.vanished.length >= MIN_NOTED && !this.#noted.has(messages);
    const note = mayNote ? this.#reminders.findNote(list) : undefined;
    if (note !== undefined) this.#noted.set(messages, 1);
    this.#reminders.expect(list);
    this.#lastCalls ??= await this.#readLastCalls(line);
    const whole = this.getLineMessages(messages);
    const own = api.name === "google" ? whole.map(pairWithCaller) : whole;
    const plain = { given: own, align: this.#reminders.align };
    const hasCalls = this.#lastCalls.ids.length > 0;
    const { given, align } = hasCalls ? restoreCallIds(own, this.#lastCalls, plain.align) : plain;
    // A conversation may begin again; a fork does not have its own messages yet.
    const isFork = line.messages.length > 0 && line.messages.at(-1)?.seq === undefined;
    const listPlaces = places && (() => places.listOfFirst());
    const forked = isFork ? addPlaces(given, line.messages.length, listPlaces) : given;
    const begun = line.keys[0] === forked[0]?.key ? forked : addPlaces(forked, 0, listPlaces);
    const placed = await this.#conversation.takeAllMessages(this.#markAsked(begun, places), (line, own) => {
      const alignment = align(line, own);
      const last = line.messages.at(-1);
      const isAsked = last?.seq !== undefined && last.role !== "assistant";
      if (alignment.type !== "follow" && isAsked && this.#progress.isOvertaken(last.seq))
        throw new OvertakenRequest();
      return alignment;
    });
    if (note !== undefined)
      this.#conversation.recordAppended([await this.#session.note(REMINDER_PREFIX + note)]);
    return this.#recordAsked(placed);
  }

  /** The messages; the first one of the question is marked as asked by this gateway when it is stored. */
  #markAsked(messages: readonly RequestMessage[], places: PlaceKeys | undefined): readonly RequestMessage[] {
    // A last message of the model is one that it shall continue.
    const index = messages.slice(0, -1).findLastIndex(({ role }) => role === "assistant") + 1;
    const first = messages[index];
    if (!first || !places) return messages;
    const input = () => {
      const own = first.input();
      return { ...own, places: [...(own.places ?? []), this.#asked.place] };
    };
    return messages.with(index, withMessageChanges(first, { input }));
  }

  /** Records the question of a request that was stored, so that other gateways know who answers it. */
  async #recordAsked<Placed extends PlacedMessages<RequestMessage>>(placed: Placed): Promise<Placed> {
    const asked = findQuestion(await this.#conversation.readLine())?.seq;
    if (asked === undefined) return placed;
    await this.#progress.recordAsked(
      asked,
      placed.written?.map(({ seq }) => seq),
    );
    return placed;
  }

  /** The messages of a request that belong to the line; excludes a reminder stored as a note. */
  getLineMessages(messages: RequestMessages): readonly RequestMessage[] {
    const { list } = messages;
    return list.slice(0, list.length - (this.#noted.get(messages) ?? 0));
  }

  /** Number of final messages of a request that look like reminders that the client will not repeat. */
  countReminders({ list }: RequestMessages): number {
    const hasLearned = this.#reminders.vanished.length >= MIN_LEARNED;
    return hasLearned && this.#reminders.countSimilar(list) >= MIN_LEARNED ? 1 : 0;
  }

  /** Records a complete reply and its stored form; undefined for a reply that says nothing. */
  async recordReply(reply: MessageInput | undefined, stored: MessageInput | undefined): Promise<void> {
    if (reply && stored) this.#lastCalls = { key: getMessageKey(stored), ids: listCallIds(reply) };
    await this.#onReply?.(getMessageText(reply));
  }

  /** The calls of the last reply, which an earlier process or another one has stored. */
  async #readLastCalls({ keys, roles, messages }: CachedLine): Promise<LoggedCalls> {
    const at = roles.lastIndexOf("assistant");
    const entry = messages[at] && (await this.#session.entry(messages[at].id));
    const ids = entry?.kind === "message" ? listCallIds(entry.message) : [];
    return { key: keys[at] ?? "", ids };
  }
}

/** The message, with the ids of the calls before it in its results. */
function pairWithCaller(message: RequestMessage, index: number, all: readonly RequestMessage[]) {
  const calls = () => listCallIds(all[index - 1]?.input() ?? {});
  return withMessageChanges(message, { input: () => pairGoogleResults(message.input(), calls()) });
}

/** The messages, one of which gets keys when it is stored. */
function addPlaces(
  messages: readonly RequestMessage[],
  index: number,
  listPlaces: (() => readonly string[]) | undefined,
): readonly RequestMessage[] {
  const message = messages[index];
  if (!message || !listPlaces) return messages;
  const input = () => ({ ...message.input(), places: listPlaces() });
  return messages.with(index, withMessageChanges(message, { input }));
}

/** Number of vanished reminders after which the next one is not taken for a person's message. */
const MIN_LEARNED = 2;
/**
 * Number after which the next one is stored as a note, because every message that leaves the line makes the line's
 * description longer.
 */
const MIN_NOTED = 32;
/** Longer reminders stay messages. */
const MAX_NOTE = 16_000;

interface RequestEnd {
  readonly key: string;
  readonly mark: ReminderMark;
}

/**
 * Learns which messages a client sends at the end of one request only. They are stored as messages and leave the line
 * with the next request. Once a client has sent dozens that begin alike and kept none, further ones are stored as
 * notes.
 */
class Reminders {
  /** The marks of messages that left the line, the newest first. */
  vanished: readonly ReminderMark[] = [];
  /** The end of the last request, if it may have been a reminder. */
  #end: RequestEnd | undefined;
  #next: RequestEnd | undefined;

  /** Records the end of a request before its messages are stored. */
  expect(messages: readonly RequestMessage[]): void {
    this.#end = this.#next;
    const mark = findMark(messages);
    this.#next = mark && { key: (messages.at(-1) as RequestMessage).key, mark };
    const kept = this.#end && messages.findLast(({ key }) => key === this.#end?.key);
    // A client that keeps one reminder may keep the next.
    if (kept && kept !== messages.at(-1)) this.vanished = [];
  }

  /** Compares a line with a request, and records a reminder that has vanished. */
  readonly align: Aligner<RequestMessage> = (line, given) => {
    if (continuesLine(line, given)) return { type: "follow", known: line.keys.length };
    const alignment = alignRequest(line, {
      keys: given.map(({ key }) => key),
      roles: given.map(({ role }) => role),
    });
    const [place] = alignment.type === "drop" && alignment.places.length === 1 ? alignment.places : [];
    if (place !== undefined && this.#end && line.keys[place] === this.#end.key) {
      this.vanished = [this.#end.mark, ...this.vanished].slice(0, MIN_NOTED);
      this.#end = undefined;
    }
    return alignment;
  };

  /** The text of a final reminder to store as a note; undefined if there is none. */
  findNote(messages: readonly RequestMessage[]): string | undefined {
    if (this.countSimilar(messages) < MIN_NOTED) return undefined;
    const input = (messages.at(-1) as RequestMessage).input();
    const words = isPlain(input) ? getMessageText(input) : "";
    return words === "" || words.length > MAX_NOTE ? undefined : words;
  }

  /** Number of vanished reminders that the last message of a request resembles. */
  countSimilar(messages: readonly RequestMessage[]): number {
    const mark = this.vanished.length > 0 ? findMark(messages) : undefined;
    return mark ? countSimilarReminders(this.vanished, mark) : 0;
  }
}

function isPlain({ parts = [] }: MessageInput): boolean {
  return parts.every(({ type }) => type === "text");
}

function findMark(messages: readonly RequestMessage[]): ReminderMark | undefined {
  const last = messages.at(-1);
  const before = messages.at(-2);
  return last && before && canBeReminder(last.role, before.role)
    ? buildReminderMark(last.input())
    : undefined;
}

/** The common features of one client's reminders. */
export interface ReminderMark {
  readonly role: Role;
  /** The beginning of the reminder, without text that changes between requests. */
  readonly head: string;
}

const HEAD = 40;
const RAW_HEAD = 400;
const MIN_HEAD = 8;

/**
 * True if a message may be a reminder: it follows a message of a user or a tool. A message that follows the model's is
 * never a reminder.
 */
export function canBeReminder(role: Role, before: Role): boolean {
  return (role === "user" || role === "system") && (before === "user" || before === "tool");
}

/** The mark of a possible reminder; undefined if its text is too short to identify it. */
export function buildReminderMark(message: MessageInput): ReminderMark | undefined {
  const head = toStableText(getMessageText(message).slice(0, RAW_HEAD)).slice(0, HEAD);
  return head.length < MIN_HEAD ? undefined : { role: message.role, head };
}

/** Number of vanished reminders that begin like a message. */
export function countSimilarReminders(vanished: readonly ReminderMark[], mark: ReminderMark): number {
  return vanished.filter(({ role, head }) => role === mark.role && head === mark.head).length;
}
