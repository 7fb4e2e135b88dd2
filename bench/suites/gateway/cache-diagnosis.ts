import { diagnoseCache, EMPTY_TRACK, followCache } from "../../../src/server/cache/diagnose-cache.ts";
import { buildRequestPrint, lookAtRequest } from "../../../src/server/gateway/cache/request-print.ts";
import { spliceBody } from "../../../src/server/gateway/outgoing/outgoing-body.ts";
import { type CutBody, cutBody, cutChangedBody } from "../../../src/server/gateway/request/cut-body.ts";
import type { Bench } from "../../bench.ts";
import { Random } from "../../random.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";

/** The size of a conversation that grows by two messages with each request. */
interface Growth {
  readonly messages: number;
  readonly words: number;
  /** True if an early message is replaced on the way. */
  readonly isEdited: boolean;
}

interface Diagnoses {
  readonly bytes: number;
  /** Median CPU of one request, after the first ones. */
  readonly cpuMs: number;
}

const REQUESTS = 200;
const WARM = 50;
const TURNS = 5;
const EDITED = Buffer.from('{"role":"assistant","content":"Read a file."}');

/** Looks at the requests of a growing conversation and judges what the provider cached of each. */
export async function diagnoseAll({ messages, words, isEdited }: Growth): Promise<Diagnoses> {
  const random = new Random(41);
  const write = (count: number) =>
    Array.from({ length: count }, () => `word${random.between(0, 997)}`).join(" ");
  const system = [{ type: "text", text: write(700), cache_control: { type: "ephemeral" } }];
  const tools = Array.from({ length: 12 }, (_, at) => ({ name: `tool${at}`, description: write(50) }));
  const all = Array.from({ length: messages + 1 + 2 * TURNS }, (_, at) => ({
    role: at % 2 ? "assistant" : "user",
    content: [{ type: "text", text: write(words) }],
  }));
  let last: CutBody | undefined;
  let track = EMPTY_TRACK;
  let bytes = 0;
  const times: number[] = [];
  for (let at = 0; at < REQUESTS; at++) {
    // Goes back after some turns, as a person does, so that all requests are of about one size.
    const sent = all.slice(0, messages + 1 + 2 * (at % TURNS));
    const body = Buffer.from(JSON.stringify({ model: "claude-sonnet-4-5", system, tools, messages: sent }));
    const cut = cutBody(body, "messages", () => (last ? [last] : []));
    [last, bytes] = [cut, body.length];
    const range = cut.elements[3] ?? { from: 0, to: 0 };
    const edited = spliceBody(body, [{ range, bytes: EDITED }]);
    const before = process.cpuUsage();
    const client = buildRequestPrint("anthropic", cut, "bench");
    const changed = isEdited ? cutChangedBody(edited, "messages", cut) : cut;
    const request = {
      at: at * 1_000,
      model: "claude-sonnet-4-5",
      usage: { inputTokens: 10, outputTokens: 10, cacheReadTokens: bytes >> 2, cacheWriteTokens: 300 },
      sent: isEdited ? buildRequestPrint("anthropic", changed, "bench") : client,
      client,
      look: () => lookAtRequest("anthropic", changed),
    };
    diagnoseCache(track, request);
    track = followCache(track, request);
    const { user, system: kernel } = process.cpuUsage(before);
    if (at >= WARM) times.push((user + kernel) / 1_000);
  }
  return { bytes, cpuMs: times.sort((one, other) => one - other)[times.length >> 1] ?? 0 };
}

/** The CPU that the diagnosis of caches adds to a request. */
export const cacheDiagnosis: Measurement = {
  name: "cache-diagnosis",
  async *run(bench: Bench) {
    const measure = (name: string, growth: Growth) => bench.child(name, import.meta.url, diagnoseAll, growth);
    const small = { messages: 8, words: 60 };
    const large = { messages: 400, words: 290 };
    for (const isEdited of [false, true]) {
      const name = isEdited ? "edited" : "plain";
      for (const [size, growth, most] of [
        ["small", small, 0.05],
        ["large", large, 1],
      ] as const) {
        const { bytes, cpuMs } = await measure(`${size} ${name} requests`, { ...growth, isEdited });
        const unit = `ms CPU, ${Math.round(bytes / 1_000)} KB, ${name}`;
        yield toRow({ id: `cache.${size}.${name}`, value: cpuMs, unit, goal: atMost(most, "ms") });
      }
    }
  },
};
