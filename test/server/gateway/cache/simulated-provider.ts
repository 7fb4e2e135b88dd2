import { createHash } from "node:crypto";
import type { Usage } from "../../../../src/model/usage.ts";

/** A request body of any API, as a client sends it. */
// biome-ignore lint/suspicious/noExplicitAny: cases change arbitrary fields.
export type Body = any;

const SHORT_MS = 5 * 60_000;
const HOUR_MS = 60 * 60_000;
/** Blocks before a breakpoint in which Anthropic looks for an earlier entry. */
const LOOK_BACK = 20;

interface Block {
  readonly text: string;
  readonly ttlMs: number | undefined;
}

/** The prompt cache of a provider, by the rules that the providers publish; it knows nothing of longhaul. */
export class SimulatedProvider {
  readonly #api: "anthropic" | "openai";
  readonly #minTokens: number;
  readonly #entries = new Map<string, { expiresAt: number; readonly ttlMs: number }>();
  #prompts: { readonly text: string; readonly space: string; expiresAt: number }[] = [];

  constructor(api: "anthropic" | "openai", minTokens = 1_024) {
    this.#api = api;
    this.#minTokens = minTokens;
  }

  /** Loses everything that it has cached, without a reason. */
  evict(): void {
    this.#entries.clear();
    this.#prompts = [];
  }

  /** Answers a request with a key, and returns the charged tokens. */
  answer(body: Body, at: number, key = "key-1"): Usage {
    const outputTokens = 100;
    return {
      ...(this.#api === "anthropic" ? this.#mark(body, at, key) : this.#match(body, at, key)),
      outputTokens,
    };
  }

  #mark(body: Body, at: number, key: string): Usage {
    const blocks = listBlocks(body);
    const all = blocks.reduce((sum, { text }) => sum + countTokens(text), 0);
    const names: string[] = [];
    const sizes: number[] = [];
    let name = `${body.model} ${key}`;
    let tokens = 0;
    for (const { text } of blocks) {
      name = createHash("sha1").update(name).update(text).digest("hex");
      tokens += countTokens(text);
      names.push(name);
      sizes.push(tokens);
    }
    const marks = blocks.flatMap(({ ttlMs }, index) => (ttlMs === undefined ? [] : [{ index, ttlMs }]));
    let read = 0;
    for (const { index } of marks)
      for (let back = index; back >= 0 && back > index - LOOK_BACK; back--) {
        const entry = this.#entries.get(names[back] as string);
        if (!entry || entry.expiresAt < at) continue;
        entry.expiresAt = at + entry.ttlMs;
        read = Math.max(read, sizes[back] as number);
        break;
      }
    let written = 0;
    let hours = 0;
    for (const { index, ttlMs } of marks) {
      const size = sizes[index] as number;
      if (size < this.#minTokens) continue;
      const known = this.#entries.get(names[index] as string);
      if (known && known.expiresAt >= at) continue;
      this.#entries.set(names[index] as string, { expiresAt: at + ttlMs, ttlMs });
      const more = Math.max(0, size - read - written);
      written += more;
      if (ttlMs === HOUR_MS) hours += more;
    }
    return {
      inputTokens: all - read - written,
      cacheReadTokens: read,
      cacheWriteTokens: written,
      ...(hours > 0 && { cacheWriteHourTokens: hours }),
    };
  }

  #match(body: Body, at: number, key: string): Usage {
    const { model, prompt_cache_key: cacheKey, tools, instructions, messages, input, text: format } = body;
    const space = JSON.stringify([model, key, cacheKey]);
    const text = JSON.stringify([tools, format, instructions, messages ?? input]);
    let same = 0;
    for (const prompt of this.#prompts) {
      if (prompt.space !== space || prompt.expiresAt < at) continue;
      const shared = countSame(prompt.text, text);
      if (shared > same) same = shared;
      if (shared > 4_096) prompt.expiresAt = at + SHORT_MS;
    }
    this.#prompts.push({ text, space, expiresAt: at + SHORT_MS });
    const all = countTokens(text);
    const read = Math.floor(same / 4 / 128) * 128;
    const cacheReadTokens = read < this.#minTokens ? 0 : read;
    return { inputTokens: all - cacheReadTokens, cacheReadTokens };
  }
}

/** The blocks of a request in the order of the prefix: tools, system, then messages with the settings they depend on. */
function listBlocks({
  tools = [],
  system = [],
  messages,
  thinking,
  tool_choice: choice,
}: Body): readonly Block[] {
  const texts = typeof system === "string" ? [{ type: "text", text: system }] : system;
  const said = messages.flatMap(({ role, content }: Body) =>
    (typeof content === "string" ? [{ type: "text", text: content }] : content).map((block: Body) => ({
      role,
      ...block,
    })),
  );
  const settings = JSON.stringify([thinking, choice]);
  return [...tools, ...texts, ...said].map((block: Body, index) => {
    const { cache_control: mark, ...bare } = block;
    const isFirstSaid = index === tools.length + texts.length;
    return {
      text: (isFirstSaid ? settings : "") + JSON.stringify(bare),
      ttlMs: mark ? (mark.ttl === "1h" ? HOUR_MS : SHORT_MS) : undefined,
    };
  });
}

function countSame(one: string, other: string): number {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  return same;
}

function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
