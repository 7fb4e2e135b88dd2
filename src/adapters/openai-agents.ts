import type { AgentInputItem, Session as AgentsSession } from "@openai/agents-core";
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
import { checkFields, checkList } from "../model/argument-checks.ts";
import { Lazy } from "../model/base/lazy.ts";
import { getShownMessage } from "../model/entry.ts";
import { checkWholeNumber } from "../model/errors.ts";
import { flattenParts } from "../model/message.ts";

const NAME = "openai-agents";
/** A larger item is stored as a part, because large parts become blobs and meta does not. */
const MAX_META_CHARACTERS = 65_536;
const MAX_BATCH = 500;

/** The conversation of a session of the OpenAI Agents SDK. */
export interface AgentsSessionOptions {
  readonly kernel: Kernel;
  /** Id of the session, which is created with the first item. */
  readonly sessionId: string;
}

/**
 * A session of the OpenAI Agents SDK that is stored by longhaul: items come back exactly as they were added, and are
 * read, searched and recalled like any other message. Items that are popped or cleared leave the line of the session but
 * stay in its log.
 */
export class LonghaulAgentsSession implements AgentsSession {
  readonly #kernel: Kernel;
  readonly #sessionId: string;
  readonly #session = new Lazy<Session>(() => this.#kernel.session(this.#sessionId));

  constructor(options: AgentsSessionOptions) {
    const { kernel, sessionId } = checkFields("options", options, { kernel: "object", sessionId: "text" });
    this.#kernel = kernel;
    this.#sessionId = sessionId;
  }

  async getSessionId(): Promise<string> {
    return this.#sessionId;
  }

  /** The newest items, oldest first; all by default. */
  async getItems(limit?: number): Promise<AgentInputItem[]> {
    const max = limit === undefined ? Number.POSITIVE_INFINITY : checkWholeNumber("limit", limit, 0);
    const items: AgentInputItem[] = [];
    for await (const { item } of this.#newest()) {
      if (items.length >= max) break;
      items.push(item);
    }
    return items.reverse();
  }

  async addItems(items: AgentInputItem[]): Promise<void> {
    const inputs = checkList("items", items).map((item) => toMessage(item));
    const session = await this.#open();
    for (let from = 0; from < inputs.length; from += MAX_BATCH)
      await session.appendAll(inputs.slice(from, from + MAX_BATCH));
  }

  async popItem(): Promise<AgentInputItem | undefined> {
    for await (const { id, item } of this.#newest()) {
      await (await this.#open()).remove(id, { reason: "popped" });
      return item;
    }
    return undefined;
  }

  async clearSession(): Promise<void> {
    const ids: string[] = [];
    for await (const { id } of this.#newest()) ids.push(id);
    if (ids.length > 0) await (await this.#open()).remove(ids, { reason: "cleared" });
  }

  /** Closes the session. Idempotent; the kernel stays open. */
  async close(): Promise<void> {
    await (await this.#session.take())?.close();
  }

  #open(): Promise<Session> {
    return this.#session.get();
  }

  /** The items of the line with their entries, newest first; messages of other programs are passed over. */
  async *#newest(): AsyncGenerator<{ readonly id: string; readonly item: AgentInputItem }> {
    if (!(await this.#session.peek()) && !(await this.#kernel.find(this.#sessionId))) return;
    const session = await this.#open();
    for await (const entry of session.entries({ direction: "older", kinds: ["message", "redacted"] })) {
      const item = await this.#readItem(entry);
      if (item) yield { id: entry.id, item };
    }
  }

  async #readItem(entry: Entry): Promise<AgentInputItem | undefined> {
    const message = getShownMessage(entry);
    if (!message) return undefined;
    if (entry.kind === "redacted") return toErasedItem(message);
    const own = message.meta?.[NAME];
    if (own !== undefined) return own as unknown as AgentInputItem;
    const { parts } = await this.#kernel.blobs.restoreMessage(message);
    const raw = parts.find((part) => part.type === "raw" && part.format === NAME);
    return raw?.type === "raw" ? (raw.value as unknown as AgentInputItem) : undefined;
  }
}

function toMessage(item: AgentInputItem): MessageInput {
  const value = JSON.parse(JSON.stringify(item)) as Json;
  const isLarge = JSON.stringify(value).length > MAX_META_CHARACTERS;
  const parts = [...toParts(item), ...(isLarge ? [{ type: "raw", format: NAME, value } as const] : [])];
  return {
    role: getRole(item),
    parts: parts.length > 0 ? parts : [{ type: "text", text: "" }],
    ...(!isLarge && { meta: { [NAME]: value } }),
  };
}

/** The remains of an erased item, so that a call still has its result. */
function toErasedItem(left: Message): AgentInputItem {
  const status = "completed";
  const part = left.parts.at(-1);
  if (part?.type === "tool-call")
    return { type: "function_call", callId: part.callId, name: part.name, arguments: "{}", status };
  const text = textOfMessage({ ...left, parts: flattenParts(left) });
  if (part?.type === "tool-result") {
    const { callId, name = "tool" } = part;
    return { type: "function_call_result", callId, name, status, output: { type: "text", text } };
  }
  if (left.role === "assistant")
    return { type: "message", role: "assistant", status, content: [{ type: "output_text", text }] };
  return { type: "message", role: left.role === "system" ? "system" : "user", content: text };
}

function getRole(item: AgentInputItem): Role {
  if ("role" in item && item.role !== undefined) return item.role;
  return item.type?.endsWith("_result") ? "tool" : "assistant";
}

/** The readable parts of an item, so that people, recall and windows understand it. */
function toParts(item: AgentInputItem): PartInput[] {
  if (item.type === "function_call")
    return [
      { type: "tool-call", callId: item.callId, name: item.name, input: parseArguments(item.arguments) },
    ];
  if (item.type === "function_call_result") {
    const output = collectTexts(item.output).join("\n");
    return [{ type: "tool-result", callId: item.callId, name: item.name, output }];
  }
  if (item.type === "reasoning")
    return collectTexts(item.content).map((text): PartInput => ({ type: "reasoning", text }));
  if (!("content" in item)) return [];
  return collectTexts(item.content).map((text): PartInput => ({ type: "text", text }));
}

function parseArguments(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** The texts of content: a string, one block, or a list of blocks. */
function collectTexts(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  if (Array.isArray(content)) return content.flatMap(collectTexts);
  if (typeof content !== "object" || content === null) return [];
  const { text, transcript, refusal } = content as Record<string, unknown>;
  const found = [text, transcript, refusal].find((one) => typeof one === "string");
  return typeof found === "string" ? [found] : [];
}
