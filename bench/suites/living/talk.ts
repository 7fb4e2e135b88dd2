import { isThinking } from "../../../test/support/provider-rules/bound-thinking.ts";
import { digest } from "../../../test/support/provider-rules/judgement.ts";
import { isReasoningRule, StrictProvider } from "../../../test/support/provider-rules/strict-provider.ts";
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

/** A request as the provider gets it; its thinking is checked before, and not shown here. */
export interface Got {
  readonly messages: readonly Said[];
  readonly bytes: number;
}

/** The gateway's reply to a client without its thinking; `content` is empty if it is an error. */
export interface Told {
  readonly status: number;
  readonly text: string;
  readonly content: readonly Block[];
}

/**
 * A client that talks through a gateway in its own process to a scripted provider. The provider thinks before each reply
 * and binds its thinking to everything before it; the client sends it back unchanged.
 */
export interface Talk {
  /** Sends a conversation; `person` names its owner. */
  ask(
    messages: readonly Said[],
    options?: { readonly person?: string; readonly fields?: object },
  ): Promise<Told>;
  /** Edits of windows that the gateway has announced. */
  edits(): Promise<number>;
  /** Requests that the provider refused because their thinking was bound to another prefix. */
  refused(): number;
  close(): Promise<void>;
}

const MAX_OUTPUT = 4_000;
/** A model that binds its thinking, at prices at which each conversation is as dear as its ledger says. */
const MODEL = "claude-opus-5-5";
const PRICES = { input: 4, output: 20, cacheRead: 0.4, cacheWrite: 5 };

/** Opens a talk; the gateway believes that the model has `window` tokens. */
export async function openTalk(
  folder: string,
  window: number,
  answer: (got: Got) => Answer,
  system = "You are a helpful assistant.",
): Promise<Talk> {
  const provider = new StrictProvider();
  let refused = 0;
  const upstream = await openUpstream(({ headers, body }) => {
    const bytes = body();
    const request = {
      path: "/v1/messages",
      body: JSON.parse(bytes.toString("utf8")),
      header: (name: string) => headers[name]?.toString(),
    };
    const judgement = provider.judge(request);
    if (judgement.refusal && isReasoningRule(judgement.refusal)) {
      refused++;
      return toJson(judgement.refusal.status, judgement.refusal.body);
    }
    const { messages } = request.body as Pick<Got, "messages">;
    const answered = answer({ messages: messages.map(withoutThinking), bytes: bytes.length });
    if (answered.status !== 200) return answered;
    const said = JSON.parse(Buffer.concat(answered.chunks).toString("utf8"));
    const thinking = `I think about message ${messages.length}.`;
    const { seal: signature } = provider.seal(request, judgement, { reasoning: thinking });
    return toJson(200, { ...said, content: [{ type: "thinking", thinking, signature }, ...said.content] });
  });
  const models = { [MODEL]: { window, maxOutput: MAX_OUTPUT, prices: PRICES } };
  const gateway = await openContestant({
    type: "gateway",
    upstream: upstream.url,
    folder,
    config: { models },
  });
  const client = openClient(1);
  /** The thinking of each reply, by the conversation's owner and the message that was answered. */
  const thoughts = new Map<string, readonly Block[]>();
  const keyOf = (person: string, messages: readonly Said[], index: number) =>
    digest(person, String(index), JSON.stringify(messages[index - 1]));
  return {
    async ask(messages, { person = "bench", fields = {} } = {}) {
      const whole = messages.map((message, index) => {
        const thought =
          message.role === "assistant" ? thoughts.get(keyOf(person, messages, index)) : undefined;
        return thought ? { ...message, content: [...thought, ...blocksOf(message)] } : message;
      });
      const body = Buffer.from(
        JSON.stringify({
          model: MODEL,
          max_tokens: 1_000,
          system,
          thinking: { type: "adaptive" },
          ...fields,
          messages: marked(whole),
        }),
      );
      const { status, text } = await client.ask(gateway.url, body, { "x-api-key": person });
      const said = text();
      const { content = [] } = status === 200 ? (JSON.parse(said) as { content?: readonly Block[] }) : {};
      thoughts.set(keyOf(person, messages, messages.length), content.filter(isThinking));
      return { status, text: said, content: content.filter((block) => !isThinking(block)) };
    },
    edits: async () => (await gateway.used()).edits,
    refused: () => refused,
    async close() {
      client.close();
      await gateway.close();
      upstream.close();
    },
  };
}

function toJson(status: number, body: object): Answer {
  return { status, type: "application/json", chunks: [Buffer.from(JSON.stringify(body))] };
}

function withoutThinking(message: Said): Said {
  const { role, content } = message;
  return typeof content === "string" ? message : { role, content: content.filter((one) => !isThinking(one)) };
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
    model: MODEL,
    content,
    stop_reason: stop,
    usage: { ...input, output_tokens: 20 },
  };
  return toJson(200, message);
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
