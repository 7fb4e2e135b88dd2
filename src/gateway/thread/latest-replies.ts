import type { Conversation } from "../../conversation/conversation.ts";
import { listCallIds, type MessageInput, type Session } from "../../index.ts";
import { buildCanonicalKey } from "../identity/canonical-key.ts";
import type { RequestMessage } from "../request/request-messages.ts";
import type { LoggedCalls } from "./logged-call-ids.ts";

/** Number of latest replies by which a conversation without its beginning is found. */
const MAX_REPLIES = 16;

/** The keys of the latest replies of a thread, and the calls of the last one. */
export class LatestReplies {
  readonly #session: Session;
  readonly #conversation: Conversation<RequestMessage>;
  #calls: LoggedCalls | undefined;
  #keys: readonly string[] = [];

  constructor(session: Session, conversation: Conversation<RequestMessage>) {
    this.#session = session;
    this.#conversation = conversation;
  }

  add(message: MessageInput): void {
    const key = buildCanonicalKey(message);
    this.#calls = { key, ids: listCallIds(message) };
    this.#keys = [key, ...this.#keys].slice(0, MAX_REPLIES);
  }

  has(key: string): boolean {
    return this.#keys.includes(key);
  }

  /** The calls of the last reply; read from the log only if an earlier process stored it. */
  readLastCalls(): LoggedCalls | Promise<LoggedCalls> {
    return this.#calls ?? this.#readLastCalls();
  }

  async #readLastCalls(): Promise<LoggedCalls> {
    const { keys, roles, messages } = await this.#conversation.readLine();
    const at = roles.lastIndexOf("assistant");
    const entry = messages[at] && (await this.#session.entry(messages[at].id));
    const ids = entry?.kind === "message" ? listCallIds(entry.message) : [];
    this.#calls = { key: keys[at] ?? "", ids };
    return this.#calls;
  }
}
