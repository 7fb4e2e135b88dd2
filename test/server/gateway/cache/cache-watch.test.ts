import { describe, expect, test } from "vitest";
import type { UsageBody } from "../../../../src/kernel/faces/log.ts";
import { readCacheRecord } from "../../../../src/server/cache/cache-record.ts";
import { startGateway, type TestGateway, threadsOf } from "../../../support/gateway.ts";
import { startUpstream } from "../../../support/upstream.ts";
import { DEVELOPED_CASES } from "./cache-cases.ts";
import { type Body, SimulatedProvider } from "./simulated-provider.ts";

/** A provider that charges by the rules of Anthropic's cache. Its replies are those that the next request repeats. */
async function startCachingUpstream(replies: readonly Body[] = []) {
  const provider = new SimulatedProvider("anthropic");
  const upstream = await startUpstream((heard, response, index) => {
    const usage = provider.answer(heard.json, Date.now(), heard.header("x-api-key"));
    const hours = usage.cacheWriteHourTokens ?? 0;
    const written = usage.cacheWriteTokens ?? 0;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({
        id: `msg_${index}`,
        type: "message",
        role: "assistant",
        model: heard.json.model,
        content: replies[index] ?? [{ type: "text", text: "Fine." }],
        stop_reason: "end_turn",
        usage: {
          input_tokens: usage.inputTokens,
          output_tokens: 100,
          cache_read_input_tokens: usage.cacheReadTokens,
          cache_creation_input_tokens: written,
          cache_creation: { ephemeral_5m_input_tokens: written - hours, ephemeral_1h_input_tokens: hours },
        },
      }),
    );
  });
  return { provider, upstream };
}

/** The replies that the requests of a case contain. */
function listReplies(requests: readonly { readonly body: Body }[]): readonly Body[] {
  return requests
    .slice(1)
    .map(({ body }, index) => body.messages[requests[index]?.body.messages.length]?.content);
}

async function send(gateway: TestGateway, body: Body, key = "key-1") {
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-api-key": key,
      "x-claude-code-session-id": "5f1c0a52-7a0e-4d5b-9a77-0c4f1f4f7b11",
    },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  await response.text();
}

async function readRecords(gateway: TestGateway) {
  const [main] = await threadsOf(gateway, "main");
  await using session = await gateway.kernel.session(main?.id);
  const entries = await session.read({ from: 1, limit: 100, kinds: ["usage"] });
  return entries.map((entry) => readCacheRecord(entry as UsageBody));
}

const findCase = (name: string) => {
  const one = DEVELOPED_CASES.find((found) => found.name === name);
  if (!one) throw new Error(`there is no case ${name}`);
  return one;
};

describe("the gateway stores a diagnosis with the usage of each request", () => {
  test.each([
    ["hit anthropic 1", undefined],
    ["system-changed 0 anthropic 1", "system-changed"],
    ["tools-changed 0 anthropic 1", "tools-changed"],
    ["message-edited 0 anthropic 1", "message-edited"],
    ["breakpoint-missing 0 anthropic 1", "breakpoint-missing"],
    ["settings-changed 0 anthropic 1", "settings-changed"],
    ["key-changed 0 anthropic 1", "key-changed"],
    ["model-changed 0 anthropic 1", "model-changed"],
    ["provider 0 anthropic 1", "provider"],
  ])("%s", async (name, cause) => {
    const { requests } = findCase(name);
    const { provider, upstream } = await startCachingUpstream(listReplies(requests));
    const gateway = await startGateway({ upstream: upstream.url, config: { policy: "none" } });
    for (const { body, key, isEvicted } of requests) {
      if (isEvicted) provider.evict();
      await send(gateway, body, key);
    }
    const last = (await readRecords(gateway)).at(-1);
    expect(last).toMatchObject({ state: cause ? "miss" : "hit" });
    expect(last?.cause).toBe(cause);
    const line = gateway.logged.findLast(({ event }) => event === "request");
    expect(line).toMatchObject({ cache: cause ?? "hit" });
    if (cause) expect(line?.missedTokens).toBeGreaterThan(1_000);
    // The log never contains words of the system prompt.
    expect(JSON.stringify(gateway.logged)).not.toContain("Today is");
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain(`longhaul_cache_requests_total{api="anthropic",verdict="${cause ?? "hit"}"} `);
  });
});

test("a restart of the gateway does not hide the cause of a miss", async () => {
  const { requests } = findCase("system-changed 0 anthropic 1");
  const { upstream } = await startCachingUpstream(listReplies(requests));
  const first = await startGateway({ upstream: upstream.url, config: { policy: "none" } });
  await send(first, requests[0]?.body);
  await first.close();
  const second = await startGateway({ upstream: upstream.url, path: first.path, config: { policy: "none" } });
  await send(second, requests[1]?.body);
  expect((await readRecords(second)).at(-1)).toMatchObject({ state: "miss", cause: "system-changed" });
});

test("a small conversation carries the same bytes and costs the same as without longhaul", async () => {
  const { requests } = findCase("hit anthropic 1");
  const { upstream } = await startCachingUpstream(listReplies(requests));
  const gateway = await startGateway({ upstream: upstream.url });
  for (const { body } of requests) await send(gateway, body);
  expect(upstream.heard.map(({ body }) => body.toString())).toEqual(
    requests.map(({ body }) => JSON.stringify(body)),
  );
  const report: Body = await (await fetch(`${gateway.url}/api/v1/usage`)).json();
  const [small] = report.sizes;
  expect(small).toMatchObject({ name: "below 50k", conversations: 1 });
  expect(small.cost).toBeGreaterThan(0);
  expect(small.savings).toMatchObject({ savedCost: 0, removedTokens: 0 });
  expect(small.savings.withoutCost).toBeCloseTo(small.cost, 9);
});

test("an edit of longhaul is named as the cause of the miss that it makes", async () => {
  const { upstream } = await startCachingUpstream();
  const gateway = await startGateway({
    upstream: upstream.url,
    config: { models: { "claude-opus-4-8": { window: 40_000, threshold: 50 } } },
  });
  const shape = findCase("hit anthropic 4").requests[0]?.body;
  const messages: Body[] = [];
  for (const message of shape.messages) {
    messages.push(message);
    if (message.role !== "user") continue;
    await send(gateway, { ...shape, messages: structuredClone(messages) });
  }
  const records = await readRecords(gateway);
  const causes = records.flatMap((record) => (record?.cause ? [record.cause, ...(record.also ?? [])] : []));
  expect(causes).toContain("own-edit");
});

test("cache.ttl changes the lifetime of breakpoints and nothing else, and the ledger books its price", async () => {
  const { requests } = findCase("hit anthropic 1");
  const { upstream } = await startCachingUpstream(listReplies(requests));
  const gateway = await startGateway({ upstream: upstream.url, config: { cache: { ttl: "1h" } } });
  for (const { body } of requests) await send(gateway, body);
  const plain = (body: Body) => JSON.stringify(body, (name, value) => (name === "ttl" ? undefined : value));
  for (const [index, { json }] of upstream.heard.entries()) {
    expect(plain(json)).toBe(plain(requests[index]?.body));
    expect(json.system[1].cache_control).toEqual({ type: "ephemeral", ttl: "1h" });
  }
  const report: Body = await (await fetch(`${gateway.url}/api/v1/usage/cache`)).json();
  expect(report).toMatchObject({ misses: 0, ledger: [{ action: "ttl", credit: 0 }] });
  expect(report.ledger[0].debit).toBeGreaterThan(0);
});

test("keepAlive keeps the last request of a large conversation, and only then", async () => {
  for (const keepAlive of [true, false]) {
    const { requests } = findCase("hit anthropic 4");
    const { upstream } = await startCachingUpstream(listReplies(requests));
    const gateway = await startGateway({ upstream: upstream.url, config: { cache: { keepAlive } } });
    await send(gateway, requests[0]?.body);
    await gateway.kernel.monitor.check();
    const sample = await (await fetch(`${gateway.url}/metrics`)).text();
    const bytes = Number(/longhaul_cache_size_bytes\{cache="prompt-caches"\} (\d+)/.exec(sample)?.[1]);
    expect(bytes > JSON.stringify(requests[0]?.body).length).toBe(keepAlive);
  }
});
