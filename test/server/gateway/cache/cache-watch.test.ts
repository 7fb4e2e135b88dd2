import { expect, test } from "vitest";
import type { WireObject } from "../../../../src/wire/wire.ts";
import { ask, quiet, startGateway, type TestGateway } from "../../../support/gateway.ts";
import { HAS_RECORDINGS } from "../recorded.ts";
import { startDocumentedProvider } from "./documented-provider.ts";
import { type Conversation, readSentConversations, sendSteps, writeSteps } from "./recorded-conversations.ts";

const talk = (steps = 5) =>
  sendSteps("talk", writeSteps(steps, 3), "anthropic", { model: "claude-sonnet-4-5" });

type Provider = Awaited<ReturnType<typeof startDocumentedProvider>>;

async function send(gateway: TestGateway, { answer }: Provider, { path, headers, requests }: Conversation) {
  for (const { body, reply } of requests) {
    answer(reply);
    expect((await ask(gateway, { path, headers, body })).status).toBe(200);
    await quiet(gateway);
  }
}

const get = async (gateway: TestGateway, path: string) => (await ask(gateway, { method: "GET", path })).text;

test("a cache miss keeps its cause across a restart of the gateway", async () => {
  const provider = await startDocumentedProvider();
  const { url } = provider.upstream;
  const { requests, ...rest } = talk(3);
  const first = await startGateway({ upstream: url });
  await send(first, provider, { ...rest, requests: requests.slice(0, 2) });
  await first.close();
  const second = await startGateway({ upstream: url, path: first.path });
  const { body, reply } = requests[2] as (typeof requests)[number];
  const system = [{ type: "text", text: "You are another agent." }, ...(body.system as WireObject[])];
  await send(second, provider, { ...rest, requests: [{ reply, body: { ...body, system } }] });
  expect(JSON.parse(await get(second, "/api/v1/usage/cache")).causes).toMatchObject([
    { cause: "system-changed", owner: "client", requests: 1 },
  ]);
});

test("small conversations carry the same bytes and cost the same as without longhaul", async () => {
  const provider = await startDocumentedProvider();
  const gateway = await startGateway({ upstream: provider.upstream.url });
  const conversations = [talk(), ...(HAS_RECORDINGS ? readSentConversations() : [])];
  for (const conversation of conversations) await send(gateway, provider, conversation);
  expect(provider.upstream.heard.map(({ body }) => body.toString())).toEqual(
    conversations.flatMap(({ requests }) => requests.map(({ body }) => JSON.stringify(body))),
  );
  const [small] = JSON.parse(await get(gateway, "/api/v1/usage")).sizes;
  expect(small).toMatchObject({ name: "below 50k", conversations: conversations.length });
  expect(small.cost).toBeGreaterThan(0);
  expect(small.savings).toMatchObject({ savedCost: 0, removedTokens: 0 });
  expect(small.savings.withoutCost).toBeCloseTo(small.cost, 9);
});

test("cache.ttl changes only the lifetime of breakpoints, and the ledger books its price", async () => {
  const provider = await startDocumentedProvider();
  const { heard, url } = provider.upstream;
  const gateway = await startGateway({ upstream: url, config: { cache: { ttl: "1h" } } });
  const { requests, ...rest } = talk();
  await send(gateway, provider, { ...rest, requests });
  const plain = (body: unknown) =>
    JSON.stringify(body, (name, value) => (name === "ttl" ? undefined : value));
  for (const [index, { json }] of heard.entries()) {
    expect(plain(json)).toBe(plain(requests[index]?.body));
    expect(json.system[0].cache_control).toEqual({ type: "ephemeral", ttl: "1h" });
  }
  const report = JSON.parse(await get(gateway, "/api/v1/usage/cache"));
  expect(report).toMatchObject({ misses: 0, ledger: [{ action: "ttl", credit: 0 }] });
  expect(report.ledger[0].debit).toBeGreaterThan(0);
});

test("keepAlive holds the last request of a large conversation, and nothing when it is off", async () => {
  for (const keepAlive of [true, false]) {
    const provider = await startDocumentedProvider();
    const gateway = await startGateway({ upstream: provider.upstream.url, config: { cache: { keepAlive } } });
    const { requests, ...rest } = talk(40);
    const last = requests.at(-1) as (typeof requests)[number];
    await send(gateway, provider, { ...rest, requests: [last] });
    await gateway.kernel.monitor.check();
    const sample = await get(gateway, "/metrics");
    const bytes = Number(/longhaul_cache_size_bytes\{cache="prompt-caches"\} (\d+)/.exec(sample)?.[1]);
    expect(bytes > JSON.stringify(last.body).length).toBe(keepAlive);
  }
});
