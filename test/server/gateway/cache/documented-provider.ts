import { createHash } from "node:crypto";
import type { WireObject } from "../../../../src/wire/wire.ts";
import { behave, startUpstream } from "../../../support/upstream.ts";
import type { Reply, WireUsage } from "../../../support/wire-server/behaviour.ts";

const MINUTE = 60_000;
/** A read finds entries that begin at most this many blocks before a breakpoint. */
const LOOK_BACK = 20;
/** OpenAI counts cached tokens in steps. */
const STEP_CHARS = 512;
const OUTPUT = 40;

interface CacheEntry {
  readonly tokens: number;
  readonly ttlMs: number;
  expiresAt: number;
}

interface Block {
  readonly level: "tools" | "system" | "messages";
  readonly content: string;
  readonly ttlMs: number | undefined;
}

/** A provider that caches prompts as Anthropic and OpenAI document it. Time is that of `Date`. */
class DocumentedProvider {
  readonly #entries = new Map<string, CacheEntry>();

  /** Drops all entries, as a provider may at any time. */
  evict(): void {
    this.#entries.clear();
  }

  /** Reads and writes the cache of an account for one request. */
  serve(account: string, body: WireObject, isAnthropic: boolean): WireUsage {
    const scope = `${account}/${String(body.model)}`;
    return isAnthropic ? this.#serveAnthropic(scope, body) : this.#serveOpenAi(scope, body);
  }

  #serveAnthropic(scope: string, body: WireObject): WireUsage {
    const blocks = listBlocks(body);
    const minTokens = minTokensOf(String(body.model));
    const { output_config: output, tool_choice, thinking, speed } = body as Record<string, WireObject>;
    // Settings are part of the prefix from the level on that they invalidate.
    const salts = {
      tools: JSON.stringify([output?.format ?? null]),
      system: JSON.stringify([speed ?? null]),
      messages: JSON.stringify([tool_choice ?? null, thinking ?? null]),
    };
    let key = scope;
    let tokens = 0;
    let level: Block["level"] | undefined;
    const places = blocks.map((block) => {
      if (block.level !== level) key = digest(key, salts[block.level]);
      level = block.level;
      key = digest(key, block.content);
      tokens += Math.ceil(block.content.length / 4);
      return { key, tokens, ttlMs: block.ttlMs };
    });
    const now = Date.now();
    const find = (index: number) => {
      const entry = this.#entries.get((places[index] as { key: string }).key);
      return entry && entry.expiresAt > now ? entry : undefined;
    };
    let read = -1;
    for (let index = 0; index < places.length; index++) {
      if (places[index]?.ttlMs === undefined) continue;
      for (let back = index; back >= 0 && back >= index - LOOK_BACK; back--)
        if (find(back)) {
          read = Math.max(read, back);
          break;
        }
    }
    for (let index = 0; index <= read; index++) {
      const entry = find(index);
      if (entry) entry.expiresAt = now + entry.ttlMs;
    }
    const cacheRead = read < 0 ? 0 : (places[read]?.tokens ?? 0);
    let written = cacheRead;
    let hour = 0;
    for (const [index, place] of places.entries()) {
      if (place.ttlMs === undefined || index <= read || place.tokens < minTokens) continue;
      if (place.ttlMs > 5 * MINUTE) hour += place.tokens - written;
      written = place.tokens;
      this.#entries.set(place.key, {
        tokens: place.tokens,
        ttlMs: place.ttlMs,
        expiresAt: now + place.ttlMs,
      });
    }
    return {
      input: tokens - written,
      output: OUTPUT,
      cacheRead,
      cacheWrite: written - cacheRead,
      cacheWriteHour: hour,
    };
  }

  #serveOpenAi(scope: string, body: WireObject): WireUsage {
    const { tools, instructions, messages, input, response_format: format, text } = body;
    const ttlMs = body.prompt_cache_retention === "24h" ? 24 * 60 * MINUTE : 10 * MINUTE;
    // A schema of the output stands before the system prompt.
    const lead = JSON.stringify([format ?? text ?? null, tools ?? [], instructions ?? null]);
    const prompt = lead + ((messages ?? input) as WireObject[]).map((one) => JSON.stringify(one)).join("\n");
    const now = Date.now();
    let key = scope;
    let cached = 0;
    let isMatching = true;
    for (let end = STEP_CHARS; end <= prompt.length; end += STEP_CHARS) {
      key = digest(key, prompt.slice(end - STEP_CHARS, end));
      const entry = this.#entries.get(key);
      isMatching &&= entry !== undefined && entry.expiresAt > now;
      if (isMatching) cached = end / 4;
      this.#entries.set(key, { tokens: end / 4, ttlMs, expiresAt: now + ttlMs });
    }
    const total = Math.ceil(prompt.length / 4);
    const cacheRead = total < 1_024 || cached < 1_024 ? 0 : cached;
    return { input: total - cacheRead, output: OUTPUT, cacheRead };
  }
}

function minTokensOf(model: string): number {
  if (/opus-(4-[5-9]|5)|haiku-4-5/.test(model)) return 4_096;
  return /haiku/.test(model) ? 2_048 : 1_024;
}

function digest(key: string, content: string): string {
  return createHash("sha256").update(key).update("\0").update(content).digest("base64url");
}

/** The blocks of a prompt in the order of its prefix. */
function listBlocks({ tools, system, messages, cache_control: automatic }: WireObject): readonly Block[] {
  const toBlock = (level: Block["level"], role: string, value: WireObject): Block => {
    const { cache_control: mark, ...content } = value;
    const ttl = (mark as { readonly ttl?: string } | undefined)?.ttl;
    return {
      level,
      content: role + JSON.stringify(content),
      ttlMs: mark ? (ttl === "1h" ? 60 : 5) * MINUTE : undefined,
    };
  };
  const parts = (content: unknown): WireObject[] =>
    typeof content === "string" ? [{ type: "text", text: content }] : ((content as WireObject[]) ?? []);
  const blocks = [
    ...((tools as WireObject[]) ?? []).map((tool) => toBlock("tools", "", tool)),
    ...parts(system).map((part) => toBlock("system", "", part)),
    ...((messages as WireObject[]) ?? []).flatMap(({ role, content }) =>
      parts(content).map((part) => toBlock("messages", String(role), part)),
    ),
  ];
  const last = blocks.pop() as Block;
  const ttlMs = last.ttlMs ?? (automatic ? 5 * MINUTE : undefined);
  return [...blocks, { ...last, ttlMs }];
}

/** Starts a documented provider for one test. */
export async function startDocumentedProvider() {
  const provider = new DocumentedProvider();
  let reply: Reply = {};
  const answer = (next: Reply) => {
    reply = next;
  };
  const usages: (WireUsage & { readonly model: string })[] = [];
  const upstream = await startUpstream((heard, response, index) => {
    const account = heard.header("x-api-key") ?? "";
    const usage = provider.serve(account, heard.json, heard.url.includes("/messages"));
    usages.push({ ...usage, model: heard.json.model });
    // Each reply has its own id, on all APIs.
    const [write, end] = [response.write.bind(response), response.end.bind(response)];
    const name = (text: unknown) =>
      String(text).replaceAll(/(?:chatcmpl-|resp_|msg_)\w+/g, (id) => `${id}x${index}`);
    Object.assign(response, {
      write: (text: unknown) => write(name(text)),
      end: (text?: unknown) => (text === undefined ? end() : end(name(text))),
    });
    behave(heard, response, { type: "reply", reply: { ...reply, usage } });
  });
  return { provider, upstream, usages, answer };
}
