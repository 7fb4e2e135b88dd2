import type { Conversation, PlacedMessages } from "../../conversation/conversation.ts";
import type { MessageInput, Session } from "../../index.ts";
import type { Blobs } from "../../log-entry.ts";
import type { LoggedContent } from "../../wire/wire.ts";
import {
  type RequestMessage,
  type RequestMessages,
  withMessageChanges,
} from "../request/request-messages.ts";
import type { CallRequest } from "./call-request.ts";
import { LatestReplies, MergedReplies, restoreCallIds } from "./logged-replies.ts";
import { Reminders } from "./reminders.ts";
import { createLoggedContent } from "./response-ids.ts";

const REMINDER_PREFIX = "Said by the client for one request only:\n";

/** Dependencies of `ThreadMessages`. */
interface ThreadMessagesDeps {
  readonly blobs: Pick<Blobs, "bytes" | "restore" | "restoreMessage" | "restoreReadable">;
  readonly stored: (message: MessageInput, key: string) => MessageInput;
  readonly prepareStored: (messages: readonly MessageInput[]) => Promise<void>;
  readonly onReply: (text: string) => Promise<void>;
}

/** The way of a thread's messages and replies to its log. */
export class ThreadMessages {
  /** Access to large contents. */
  readonly content: LoggedContent;
  readonly mergedReplies: MergedReplies;
  readonly #session: Session;
  readonly #conversation: Conversation<RequestMessage>;
  readonly #deps: ThreadMessagesDeps;
  readonly #replies: LatestReplies;
  readonly #reminders = new Reminders();
  /** Number of final messages of a request that were stored as notes. */
  readonly #noted = new WeakMap<RequestMessages, number>();

  constructor(session: Session, conversation: Conversation<RequestMessage>, deps: ThreadMessagesDeps) {
    this.#session = session;
    this.#conversation = conversation;
    this.#deps = deps;
    this.content = createLoggedContent(deps.blobs);
    this.mergedReplies = new MergedReplies(session, deps.blobs);
    this.#replies = new LatestReplies(session, conversation);
  }

  /** Splits replies that the client has joined, so that the request matches the line. */
  async split(request: RequestMessages): Promise<RequestMessages> {
    return this.mergedReplies.split(request, await this.#conversation.readLineInTurn());
  }

  /** Appends the messages of a request to the log. */
  async append({ messages, chain, places }: CallRequest): Promise<PlacedMessages<RequestMessage>> {
    const line = await this.#conversation.readLine();
    if (chain) {
      const given =
        line.messages.length === 0 ? addPlaces(messages.list, 0, places?.listOfOpening()) : messages.list;
      const { afterEntry } = chain;
      if (afterEntry !== undefined) return this.#conversation.takeMessagesAfter(afterEntry, given);
      return this.#conversation.takeNewMessages(given);
    }
    const { list } = messages;
    const note = this.#noted.has(messages) ? undefined : this.#reminders.findNote(list);
    if (note !== undefined) this.#noted.set(messages, 1);
    this.#reminders.expect(list);
    const given = restoreCallIds(this.getLineMessages(messages), await this.#replies.readLastCalls());
    // A conversation may begin again; a fork has no message of its own yet.
    const isFork = line.messages.length > 0 && line.messages.at(-1)?.seq === undefined;
    const own = isFork ? addPlaces(given, line.messages.length, places?.listOfFirst()) : given;
    const first = addPlaces(own, 0, places?.listOfFirst());
    const placed = await this.#conversation.takeAllMessages(first, this.#reminders.align);
    if (note !== undefined)
      this.#conversation.recordAppended([await this.#session.note(REMINDER_PREFIX + note)]);
    return placed;
  }

  /** The messages of a request that belong to the line; excludes a reminder stored as a note. */
  getLineMessages(messages: RequestMessages): readonly RequestMessage[] {
    const { list } = messages;
    return list.slice(0, list.length - (this.#noted.get(messages) ?? 0));
  }

  /** Number of final messages of a request that look like reminders that the client will not repeat. */
  countReminders({ list }: RequestMessages): number {
    return this.#reminders.isReminder(list) ? 1 : 0;
  }

  /** Records a complete reply. */
  recordReply(message: MessageInput): void {
    this.#replies.add(message);
  }

  /** Redacts a large message in a worker, so that `toStored` finds it ready. */
  prepareStored(message: MessageInput): Promise<void> {
    return this.#deps.prepareStored([message]);
  }

  toStored(message: MessageInput, key: string): MessageInput {
    return this.#deps.stored(message, key);
  }

  /** Reports the text of a complete reply. */
  reportReply(text: string): Promise<void> {
    return this.#deps.onReply(text);
  }
}

/** The messages, one of which gets keys when it is stored. */
function addPlaces(
  messages: readonly RequestMessage[],
  index: number,
  places: readonly string[] | undefined,
): readonly RequestMessage[] {
  const message = messages[index];
  if (!message || !places) return messages;
  const input = () => ({ ...message.input(), places });
  return messages.with(index, withMessageChanges(message, { input }));
}
