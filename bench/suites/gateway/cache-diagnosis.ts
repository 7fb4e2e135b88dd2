import { diagnoseCache, EMPTY_TRACK, followCache } from "../../../src/server/cache/diagnose-cache.ts";
import { buildRequestPrint, lookAtRequest } from "../../../src/server/gateway/cache/request-print.ts";
import { type CutBody, cutBody } from "../../../src/server/gateway/request/cut-body.ts";
import type { Bench } from "../../bench.ts";
import { Random } from "../../random.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";

/** The size of a conversation that grows by two messages with each request. */
interface Growth {
  readonly messages: number;
  readonly words: number;
}

interface Diagnoses {
  readonly bytes: number;
  /** Median CPU of one request, after the first ones. */
  readonly cpuMs: number;
}

const REQUESTS = 200;
const WARM = 50;
const TURNS = 5;

/** Looks at the requests of a growing conversation and judges what the provider cached of each. */
export async function diagnoseAll({ messages, words }: Growth): Promise<Diagnoses> {
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
    const cut = cutBody(body, "messages", () => last);
    [last, bytes] = [cut, body.length];
    const before = process.cpuUsage();
    const client = buildRequestPrint("anthropic", cut, "bench");
    const request = {
      at: at * 1_000,
      model: "claude-sonnet-4-5",
      usage: { inputTokens: 10, outputTokens: 10, cacheReadTokens: bytes >> 2, cacheWriteTokens: 300 },
      sent: client,
      client,
      look: lookAtRequest("anthropic", cut),
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
    const small = await measure("small requests", { messages: 8, words: 60 });
    const large = await measure("large requests", { messages: 400, words: 290 });
    const unitOf = ({ bytes }: Diagnoses) => `ms CPU, ${Math.round(bytes / 1_000)} KB`;
    yield toRow({ id: "cache.small", value: small.cpuMs, unit: unitOf(small), goal: atMost(0.05, "ms") });
    yield toRow({ id: "cache.large", value: large.cpuMs, unit: unitOf(large), goal: atMost(1, "ms") });
  },
};
