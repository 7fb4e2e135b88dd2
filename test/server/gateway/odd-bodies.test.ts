import { describe, expect, test } from "vitest";
import { ask, startGateway, threadsOf } from "../../support/gateway.ts";
import { startUpstream } from "../../support/upstream.ts";

const PATHS = { anthropic: "/v1/messages", "openai-chat": "/v1/chat/completions" } as const;

/** A provider that gives an empty reply to everything. */
const silent = () =>
  startUpstream((_, response) => response.writeHead(200, { "content-type": "application/json" }).end("{}"));

const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
const message = '{"role":"user","content":"Hello."}';
const ODD = {
  "names a field twice": `{"model":"m","max_tokens":1,"max_tokens":2,"messages":[${message}]}`,
  "is nested deeper than anybody reads": `{"model":"m","messages":[{"role":"user","content":[{"type":"odd","value":${deep}}]}]}`,
  "names no model": `{"messages":[${message}]}`,
  "names an empty model": `{"model":"","messages":[${message}]}`,
  "names a model by number": `{"model":7,"messages":[${message}]}`,
} as const;

describe.each(["none", "longhaul"])("odd requests with policy %s", (policy) => {
  test.each(Object.entries(ODD))("a body that %s goes to the provider unchanged", async (_, body) => {
    const upstream = await silent();
    const gateway = await startGateway({ upstream: upstream.url, config: { policy } });
    for (const path of Object.values(PATHS)) {
      const answer = await ask(gateway, { path, body });
      expect([answer.status, answer.text]).toEqual([200, "{}"]);
    }
    expect(upstream.heard.map((heard) => heard.body.toString())).toEqual([body, body]);
  });

  test("a request with a prompt kept by the provider needs no model", async () => {
    const upstream = await silent();
    const gateway = await startGateway({ upstream: upstream.url, config: { policy } });
    for (const more of [{}, { input: "Hello." }]) {
      const body = { prompt: { id: "pmpt_1", version: "2" }, ...more };
      expect((await ask(gateway, { path: "/v1/responses", body })).status).toBe(200);
      expect(upstream.heard.at(-1)?.json).toEqual(body);
    }
  });

  test("a body that is not a request at all is refused", async () => {
    const upstream = await silent();
    const gateway = await startGateway({ upstream: upstream.url, config: { policy } });
    for (const body of ["", "{", "{}", "[]", "7", "null", '{"model":"m",}', `{"messages":[${message},]}`])
      for (const path of Object.values(PATHS)) expect((await ask(gateway, { path, body })).status).toBe(400);
    expect(upstream.heard).toHaveLength(0);
    expect(await threadsOf(gateway)).toEqual([]);
  });
});

test("a reply that breaks off is reported as the upstream's fault", async () => {
  const upstream = await startUpstream((_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write('{"id":', () => response.destroy());
  });
  const gateway = await startGateway({ upstream: upstream.url });
  const body = { model: "m", messages: [{ role: "user", content: "Hello." }] };
  const answer = await ask(gateway, { path: PATHS.anthropic, body });
  expect(answer.status).toBe(502);
  expect(answer.text).toContain("upstream: The upstream closed the connection in the middle of its answer.");
  expect(gateway.logged.filter(({ event }) => event === "unexpected")).toEqual([]);
});
