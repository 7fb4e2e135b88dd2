import { openClient } from "../gateway/client.ts";
import { openContestant } from "../gateway/contestant.ts";
import { type Answer, openUpstream } from "../gateway/upstream.ts";

/** A block of a message in Anthropic's format. */
export interface Block {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A message in Anthropic's format. */
export interface Said {
  readonly role: "user" | "assistant";
  readonly content: string | readonly Block[];
}

/** A request as the provider gets it. */
export interface Got {
  readonly messages: readonly Said[];
  readonly bytes: number;
}

/** The gateway's reply to a client; `content` is empty if it is an error. */
export interface Told {
  readonly status: number;
  readonly text: string;
  readonly content: readonly Block[];
}

/** A client that talks through a gateway in its own process to a scripted provider. */
export interface Talk {
  /** Sends a conversation; `person` names its owner. */
  ask(
    messages: readonly Said[],
    options?: { readonly person?: string; readonly fields?: object },
  ): Promise<Told>;
  /** Edits of windows that the gateway has announced. */
  edits(): Promise<number>;
  close(): Promise<void>;
}

const MAX_OUTPUT = 4_000;

/** Opens a talk; the gateway believes that the model has `window` tokens. */
export async function openTalk(
  folder: string,
  window: number,
  answer: (got: Got) => Answer,
  system = "You are a helpful assistant.",
): Promise<Talk> {
  const upstream = await openUpstream(({ body }) => {
    const bytes = body();
    const { messages } = JSON.parse(bytes.toString("utf8")) as Pick<Got, "messages">;
    return answer({ messages, bytes: bytes.length });
  });
  const models = { bench: { window, maxOutput: MAX_OUTPUT } };
  const gateway = await openContestant({
    type: "gateway",
    upstream: upstream.url,
    folder,
    config: { models },
  });
  const client = openClient(1);
  return {
    async ask(messages, { person = "bench", fields = {} } = {}) {
      const body = Buffer.from(
        JSON.stringify({ model: "bench", max_tokens: 1_000, system, ...fields, messages: marked(messages) }),
      );
      const { status, text } = await client.ask(gateway.url, body, { "x-api-key": person });
      const said = text();
      const { content = [] } = status === 200 ? (JSON.parse(said) as { content?: readonly Block[] }) : {};
      return { status, text: said, content };
    },
    edits: async () => (await gateway.used()).edits,
    async close() {
      client.close();
      await gateway.close();
      upstream.close();
    },
  };
}

/** Like most clients, this one puts a cache marker on its last message. */
function marked(messages: readonly Said[]): readonly Said[] {
  const last = messages.at(-1) as Said;
  const blocks = blocksOf(last);
  const end = { ...(blocks.at(-1) as Block), cache_control: { type: "ephemeral" } };
  return [...messages.slice(0, -1), { ...last, content: [...blocks.slice(0, -1), end] }];
}

/** The blocks of a message. */
export function blocksOf({ content }: Said): readonly Block[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

let replies = 0;

/** A provider's reply; without `cached`, its usage has no cache fields. */
export function reply(content: readonly Block[], tokens: number, cached?: number): Answer {
  const input =
    cached === undefined
      ? { input_tokens: tokens }
      : {
          input_tokens: 0,
          cache_read_input_tokens: cached,
          cache_creation_input_tokens: tokens - cached,
        };
  const stop = content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
  const message = {
    id: `msg_${++replies}`,
    type: "message",
    role: "assistant",
    model: "bench",
    content,
    stop_reason: stop,
    usage: { ...input, output_tokens: 20 },
  };
  return { status: 200, type: "application/json", chunks: [Buffer.from(JSON.stringify(message))] };
}

/** Prices of a character relative to the input price: Anthropic's five-minute cache. */
const WRITE = 1.25;
const READ = 0.1;

/** Counts, message by message, the part of each request that a provider's cache has from the one before. */
export class Ledger {
  /** Characters of all requests at cache prices. */
  cost = 0;
  /** Requests that changed an earlier message. */
  rewrites = 0;
  requests = 0;
  #last: readonly string[] = [];

  /** Characters of a request, and how many of them begin it like the one before. */
  take(messages: readonly Said[]): { readonly all: number; readonly same: number } {
    const texts = messages.map(canonical);
    const changed = this.#last.findIndex((text, index) => text !== texts[index]);
    const kept = changed === -1 ? this.#last.length : changed;
    const sum = (some: readonly string[]) => some.reduce((total, { length }) => total + length, 0);
    const [all, same] = [sum(texts), sum(texts.slice(0, kept))];
    if (changed !== -1) this.rewrites++;
    this.requests++;
    this.cost += READ * same + WRITE * (all - same);
    this.#last = texts;
    return { all, same };
  }
}

/** A message without its cache markers, which move between requests; one text is the same in both forms. */
function canonical(message: Said): string {
  const blocks = blocksOf(message).map(({ cache_control: _, ...block }) => block);
  const isText = blocks.every(({ type }) => type === "text");
  return JSON.stringify([message.role, isText ? blocks.map(({ text }) => text).join("") : blocks]);
}
