import { BaseListChatMessageHistory } from "@langchain/core/chat_history";
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
  type StoredMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import {
  type Entry,
  type Json,
  type Kernel,
  type Message,
  type MessageInput,
  type PartInput,
  type Role,
  type Session,
  textOfMessage,
} from "../kernel/index.ts";
import { checkFields, checkKind } from "../model/argument-checks.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import { Lazy } from "../model/base/lazy.ts";
import { getShownMessage } from "../model/entry.ts";
import { flattenParts } from "../model/message.ts";

const NAME = "langchain";
/** A larger message is stored as a part, because large parts become blobs and meta does not. */
const MAX_META_CHARACTERS = 65_536;
const MAX_BATCH = 500;
const ROLES: Readonly<Record<string, Role>> = {
  human: "user",
  ai: "assistant",
  system: "system",
  tool: "tool",
};

/** The conversation of a history. */
export interface ChatHistoryOptions {
  readonly kernel: Kernel;
  /** Id of the session, which is created with the first message. */
  readonly sessionId: string;
}

/**
 * A chat history of LangChain that is stored in a session: messages come back exactly as they were added, and are read,
 * searched and recalled like any other. Cleared messages leave the line of the session but stay in its log.
 */
export class LonghaulChatMessageHistory extends BaseListChatMessageHistory {
  lc_namespace = ["longhaul", "chat_history"];
  readonly #kernel: Kernel;
  readonly #sessionId: string;
  readonly #session = new Lazy<Session>(() => this.#kernel.session(this.#sessionId));

  constructor(options: ChatHistoryOptions) {
    const { kernel, sessionId } = checkFields("options", options, { kernel: "object", sessionId: "text" });
    super({ sessionId });
    this.#kernel = kernel;
    this.#sessionId = sessionId;
  }

  async getMessages(): Promise<BaseMessage[]> {
    if (!(await this.#session.peek()) && !(await this.#kernel.find(this.#sessionId))) return [];
    const stored: StoredMessage[] = [];
    for await (const entry of this.#entries(await this.#open())) {
      const message = await this.#readStored(entry);
      if (message) stored.push(message);
    }
    return mapStoredMessagesToChatMessages(stored);
  }

  async addMessage(message: BaseMessage): Promise<void> {
    await this.addMessages([message]);
  }

  override async addMessages(messages: BaseMessage[]): Promise<void> {
    const inputs = messages.map(toMessage);
    const session = await this.#open();
    for (let from = 0; from < inputs.length; from += MAX_BATCH)
      await session.appendAll(inputs.slice(from, from + MAX_BATCH));
  }

  /** Takes all messages off the line; `session.choose` brings them back, `kernel.deleteSession` erases them. */
  override async clear(): Promise<void> {
    if (!(await this.#session.peek()) && !(await this.#kernel.find(this.#sessionId))) return;
    const session = await this.#open();
    const ids: string[] = [];
    for await (const { id } of this.#entries(session)) ids.push(id);
    if (ids.length > 0) await session.remove(ids, { reason: "cleared" });
  }

  /** Closes the session. Idempotent; the kernel stays open. */
  async close(): Promise<void> {
    await (await this.#session.take())?.close();
  }

  #open(): Promise<Session> {
    return this.#session.get();
  }

  #entries(session: Session): AsyncGenerator<Entry> {
    return session.entries({ kinds: ["message", "redacted"] });
  }

  /** The stored form of a message; undefined if another program wrote the entry. */
  async #readStored(entry: Entry): Promise<StoredMessage | undefined> {
    const message = getShownMessage(entry);
    if (!message) return undefined;
    if (entry.kind === "redacted") return toErasedMessage(message);
    const own = message.meta?.[NAME];
    if (own !== undefined) return own as unknown as StoredMessage;
    const { parts } = await this.#kernel.blobs.restoreMessage(message);
    const raw = parts.find((part) => part.type === "raw" && part.format === NAME);
    return raw?.type === "raw" ? (raw.value as unknown as StoredMessage) : undefined;
  }
}

/** The remains of an erased message, so that a call still has its result. */
function toErasedMessage(left: Message): StoredMessage {
  const content = textOfMessage({ ...left, parts: flattenParts(left) });
  const [message] = mapChatMessagesToStoredMessages([buildMessage(left, content)]);
  return message as StoredMessage;
}

function buildMessage({ role, parts }: Message, content: string): BaseMessage {
  const result = parts.find((part) => part.type === "tool-result");
  if (result) {
    const named = dropUndefined({ name: result.name });
    return new ToolMessage({ content, tool_call_id: result.callId, ...named });
  }
  if (role === "system") return new SystemMessage(content);
  if (role === "user") return new HumanMessage(content);
  const calls = parts.filter((part) => part.type === "tool-call");
  return new AIMessage({
    content,
    tool_calls: calls.map(({ callId, name }) => ({ id: callId, name, args: {} })),
  });
}

function toMessage(message: BaseMessage): MessageInput {
  const type = checkKind("message", message?.getType, "function").call(message);
  const [stored] = mapChatMessagesToStoredMessages([message]);
  const value = JSON.parse(JSON.stringify(stored)) as Json;
  const isLarge = JSON.stringify(value).length > MAX_META_CHARACTERS;
  const parts = [...toParts(message), ...(isLarge ? [{ type: "raw", format: NAME, value } as const] : [])];
  return {
    role: ROLES[type] ?? "user",
    parts: parts.length > 0 ? parts : [{ type: "text", text: "" }],
    ...(!isLarge && { meta: { [NAME]: value } }),
  };
}

/** The readable parts of a message, so that people, recall and windows understand it. */
function toParts(message: BaseMessage): PartInput[] {
  const { text } = message;
  if (ToolMessage.isInstance(message)) {
    const isError = message.status === "error";
    return [{ type: "tool-result", callId: message.tool_call_id, output: text, ...(isError && { isError }) }];
  }
  const said: PartInput[] = text === "" ? [] : [{ type: "text", text }];
  if (!AIMessage.isInstance(message)) return said;
  const calls = (message.tool_calls ?? []).map(
    ({ id = "", name, args }): PartInput => ({ type: "tool-call", callId: id, name, input: args as Json }),
  );
  return [...said, ...calls];
}
