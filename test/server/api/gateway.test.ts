import { expect, test } from "vitest";
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

test("the state of the gateway has its upstreams, settings, conversations and lines to paste, and no key", async () => {
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
