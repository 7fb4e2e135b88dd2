import { expect, test } from "vitest";
import { SUM_META } from "../../../src/model/usage.ts";
import { startGateway } from "../../support/gateway.ts";
import { startUpstream } from "../../support/upstream.ts";
import { ApiClient } from "./support/api-client.ts";

const asked = {
  method: "POST",
  headers: { "content-type": "application/json", "x-api-key": "key" },
  body: JSON.stringify({
    model: "claude-sonnet-4-5",
    max_tokens: 10,
    messages: [{ role: "user", content: "Hello there." }],
  }),
};

test("the gateway's state shows upstreams, settings, conversations and lines to paste, but no key", async () => {
  const upstream = await startUpstream();
  const apis = ["anthropic"];
  const gateway = await startGateway({
    upstream: [
      { name: "anthropic", baseUrl: upstream.url, apis, keyEnv: "ANTHROPIC_API_KEY" },
      { name: "spare", baseUrl: "http://127.0.0.1:9", apis, prefix: "spare/", keyEnv: "SPARE_KEY" },
    ],
    env: { ANTHROPIC_API_KEY: "sk-secret" },
  });
  const api = await ApiClient.open(gateway);
  expect((await fetch(`${gateway.url}/v1/messages`, asked)).status).toBe(200);
  await expect.poll(async () => (await api.get("/gateway")).body.totals.requests).toBe(1);
  const { body } = await api.get("/gateway");
  expect(body).toMatchObject({
    url: gateway.url,
    isOpen: true,
    settings: { policy: "longhaul", threshold: 80 },
    totals: { failures: 0, spending: { savings: { basis: "estimated" } } },
  });
  expect(body.upstreams[0]).toMatchObject({ name: "anthropic", hasKey: true, requests: 1, lastStatus: 200 });
  expect(body.upstreams[1]).toMatchObject({ name: "spare", hasKey: false, requests: 0, failures: 0 });
  expect(body.missing).toContainEqual({ name: "google", variable: "GEMINI_API_KEY" });
  expect(body.threads).toMatchObject([{ kind: "main", requests: 1, inFlight: 0 }]);
  expect(body.agents[0].lines).toBe(`ANTHROPIC_BASE_URL=${gateway.url} claude`);
  expect(JSON.stringify(body)).not.toContain("sk-secret");
});

test("a usage report over many requests counts as spending, but not as a window size or a missed cache", async () => {
  const gateway = await startGateway({ upstream: "http://127.0.0.1:9" });
  await using session = await gateway.kernel.session("summed");
  const report = { kind: "usage", model: "claude-sonnet-4-5" } as const;
  const one = { inputTokens: 900, cacheReadTokens: 8_000 };
  const sum = { inputTokens: 600_000, outputTokens: 3_000 };
  await session.appendReply({ role: "assistant", text: "At B4." }, { ...report, usage: one });
  await session.appendReply({ role: "assistant", text: "Bye." }, { ...report, usage: sum, meta: SUM_META });
  const api = await ApiClient.open(gateway);
  const [listed] = (await api.get("/sessions?sort=used")).body.sessions;
  expect(listed).toMatchObject({ usage: { inputTokens: 600_900 }, lastRequest: { promptTokens: 8_900 } });
  const { body } = await api.get("/usage/cache");
  expect(body).toMatchObject({ requests: 2, misses: 0, unreported: 1 });
  expect(body.sizes.find((size: { conversations: number }) => size.conversations > 0).name).toBe("below 50k");
});
