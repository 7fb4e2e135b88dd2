import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, gunzipSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ask, startGateway, threadsOf } from "../../support/gateway.ts";
import { proofTest } from "../../support/proof.ts";
import {
  beginStream,
  eventsOf,
  says,
  startUpstream,
  type Upstream,
  wireApi,
} from "../../support/upstream.ts";

const MESSAGES = "/v1/messages";
const PASS = { policy: "none" };

/** A pass-through gateway in front of an upstream with short replies. */
async function passing(upstream?: Upstream) {
  const behind = upstream ?? (await startUpstream());
  return { upstream: behind, gateway: await startGateway({ upstream: behind.url, config: PASS }) };
}

/** Bodies that survive only if they are not reserialized. */
const ODD_BODIES: Readonly<Record<string, string>> = {
  "unknown fields": `{"model":"claude-sonnet-4-5","max_tokens":9,"x_future":{"deep":[1,{"a":null}]},"messages":[{"role":"user","content":"a","x_new":true}],"zz":[]}`,
  "odd spacing": `\n{ "model" :\t"claude-sonnet-4-5" ,\r\n "max_tokens": 9,  "messages" : [ { "role":"user" , "content" :  "a" } ]\n}\n`,
  "escapes of unicode": `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"\\u0041\\ud83d\\ude00\\/ \\u00e9 é \\ud800"}]}`,
  "keys that repeat inside of messages": `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"one","content":"two","messages":[1],"model":"m"}]}`,
  "numbers beyond what doubles hold": `{"model":"claude-sonnet-4-5","max_tokens":9,"seed":12345678901234567890,"big":1e400,"small":-0.0,"exact":0.10,"messages":[{"role":"user","content":"a","n":1e400,"m":12345678901234567890}]}`,
  "fields in another order": `{"messages":[{"content":"a","role":"user"}],"stream":false,"max_tokens":9,"model":"claude-sonnet-4-5"}`,
  "escaped names of fields": `{"mod\\u0065l":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"a"}]}`,
};

describe("a gateway with edits off", () => {
  test.each(Object.entries(ODD_BODIES))(
    "a gateway with edits off passes %s on unchanged",
    async (_, body) => {
      const { upstream, gateway } = await passing();
      const answer = await ask(gateway, { path: MESSAGES, body });
      expect(answer.status).toBe(200);
      expect(upstream.heard[0]?.body.toString()).toBe(body);
    },
  );

  test.each(Object.entries(ODD_BODIES))(
    "a gateway with the default policy passes %s on unchanged, too",
    async (_, body) => {
      const upstream = await startUpstream();
      const gateway = await startGateway({ upstream: upstream.url });
      expect((await ask(gateway, { path: MESSAGES, body })).status).toBe(200);
      expect(upstream.heard[0]?.body.toString()).toBe(body);
    },
  );

  proofTest("a gateway with edits off passes on a body of twenty megabytes", async () => {
    const { upstream, gateway } = await passing();
    const body = Buffer.from(
      JSON.stringify({
        model: "claude-sonnet-4-5",
        max_tokens: 9,
        messages: [{ role: "user", content: "0123456789abcdef".repeat(20 * 65_536) }],
      }),
    );
    expect((await ask(gateway, { path: MESSAGES, body })).status).toBe(200);
    expect(upstream.heard[0]?.body.equals(body)).toBe(true);
  });

  test("a gateway with edits off refuses a body beyond its limit, and names that limit", async () => {
    const upstream = await startUpstream();
    const config = { ...PASS, limits: { maxBodyBytes: 2_048 } };
    const gateway = await startGateway({ upstream: upstream.url, config });
    const answer = await ask(gateway, { path: MESSAGES, body: said("x".repeat(4_096)) });
    expect(answer.status).toBe(413);
    expect(answer.text).toContain("maxBodyBytes");
    expect(upstream.heard).toHaveLength(0);
  });

  test("a gateway with edits off passes on a body that was uploaded in chunks", async () => {
    const { upstream, gateway } = await passing();
    const body = JSON.stringify(said("in chunks"));
    const rawHeaders = [
      "Content-Type",
      "application/json",
      "X-Api-Key",
      "key",
      "Transfer-Encoding",
      "chunked",
    ];
    expect((await ask(gateway, { path: MESSAGES, body, rawHeaders })).status).toBe(200);
    expect(upstream.heard[0]?.body.toString()).toBe(body);
    expect(upstream.heard[0]?.header("content-length")).toBe(String(body.length));
    expect(upstream.heard[0]?.header("transfer-encoding")).toBeUndefined();
  });

  test.each([
    ["gzip", gzipSync],
    ["zstd", zstdCompressSync],
    ["br", brotliCompressSync],
  ] as const)(
    "a gateway with edits off passes on a body packed with %s unchanged, and still reads it",
    async (name, pack) => {
      const { upstream, gateway } = await passing();
      const packed = pack(Buffer.from(JSON.stringify(said("packed words"))));
      const headers = { "content-encoding": name };
      expect((await ask(gateway, { path: MESSAGES, body: packed, headers })).status).toBe(200);
      expect(upstream.heard[0]?.body.equals(packed)).toBe(true);
      expect(upstream.heard[0]?.header("content-encoding")).toBe(name);
      const [main] = await threadsOf(gateway, "main");
      const session = await gateway.kernel.session(main?.id);
      expect(JSON.stringify((await session.page()).entries)).toContain("packed words");
    },
  );

  test("a gateway with edits off passes on headers in their order and case, except those of longhaul and the connection", async () => {
    const { upstream, gateway } = await passing();
    const rawHeaders = [
      "anthropic-beta",
      "context-1m-2025-08-07,fine-grained-tool-streaming-2025-05-14",
      "Anthropic-Version",
      "2023-06-01",
      "CONTENT-type",
      "application/json",
      "X-Stainless-Lang",
      "js",
      "x-api-key",
      "sk-test",
      "X-Twice",
      "one",
      "x-twice",
      "two",
      "Keep-Alive",
      "timeout=5",
      "X-Hop",
      "only here",
      "Connection",
      "close, X-Hop",
      "x-longhaul-session",
      "mine",
      "Accept-Encoding",
      "gzip, br",
    ];
    await ask(gateway, { path: `${MESSAGES}?beta=true&x=%2F`, body: said("a"), rawHeaders });
    const [heard] = upstream.heard;
    expect(heard?.url).toBe("/v1/messages?beta=true&x=%2F");
    const expected = rawHeaders.filter(
      (_, at) =>
        !["Keep-Alive", "X-Hop", "Connection", "x-longhaul-session"].includes(
          rawHeaders[at - (at % 2)] ?? "",
        ),
    );
    const own = ["host", "connection", "content-length"];
    const arrived = heard?.rawHeaders.filter(
      (_, at, all) => !own.includes((all[at - (at % 2)] as string).toLowerCase()),
    );
    expect(arrived).toEqual(expected);
  });

  test("a gateway with edits off passes on the headers, status and text of an answer", async () => {
    const { gateway } = await passing(
      await startUpstream((_, response) => {
        response.writeHead(299, "Quite Fine", [
          "X-One",
          "1",
          "x-two",
          "2",
          "Set-Cookie",
          "a=1",
          "Set-Cookie",
          "b=2",
        ]);
        response.end(`{"type":"message",  "x":1e400}`);
      }),
    );
    const answer = await ask(gateway, { path: MESSAGES, body: said("a") });
    expect([answer.status, answer.statusMessage]).toEqual([299, "Quite Fine"]);
    expect(answer.rawHeaders.slice(0, 8)).toEqual([
      "X-One",
      "1",
      "x-two",
      "2",
      "Set-Cookie",
      "a=1",
      "Set-Cookie",
      "b=2",
    ]);
    expect(answer.text).toBe(`{"type":"message",  "x":1e400}`);
  });

  test("a gateway with edits off passes on a compressed stream unchanged, and stores its words", async () => {
    const upstream = await startUpstream((heard, response) => {
      const packed = gzipSync(eventsOf(heard, { text: "packed on the way back" }).join(""));
      response
        .writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" })
        .end(packed);
    });
    const { gateway } = await passing(upstream);
    const answer = await ask(gateway, {
      path: MESSAGES,
      body: said("a", true),
      headers: { "accept-encoding": "gzip" },
    });
    expect(answer.header("content-encoding")).toBe("gzip");
    expect(answer.body.subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
    const [main] = await threadsOf(gateway, "main");
    const session = await gateway.kernel.session(main?.id);
    expect(JSON.stringify((await session.page()).entries)).toContain("packed on the way back");
  });

  test("a gateway with edits off passes on a compressed body unchanged, and stores its words", async () => {
    const upstream = await startUpstream((heard, response) => {
      const packed = gzipSync(
        JSON.stringify(wireApi(heard.url).body({ text: "packed at once" }, { path: "", body: {} })),
      );
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(packed);
    });
    const { gateway } = await passing(upstream);
    const answer = await ask(gateway, {
      path: MESSAGES,
      body: said("a"),
      headers: { "accept-encoding": "gzip" },
    });
    expect(gunzipSync(answer.body).toString()).toContain("packed at once");
    const [main] = await threadsOf(gateway, "main");
    const session = await gateway.kernel.session(main?.id);
    expect(JSON.stringify((await session.page()).entries)).toContain("packed at once");
  });

  test("a gateway with edits off passes on every event before the next one is written", async () => {
    const seen: string[] = [];
    let events: readonly string[] = [];
    const upstream = await startUpstream(async (heard, response) => {
      events = eventsOf(heard, { text: "one two three" });
      beginStream(response);
      for (const [at, event] of events.entries()) {
        response.write(event);
        // The next event is written only once the client has this one.
        while (seen.join("").length < events.slice(0, at + 1).join("").length) await sleep(5);
      }
      response.end();
    });
    const { gateway } = await passing(upstream);
    const answer = await ask(gateway, {
      path: MESSAGES,
      body: said("a", true),
      onBytes: (bytes) => seen.push(bytes.toString()),
    });
    expect(answer.text).toBe(events.join(""));
    expect(answer.isWhole).toBe(true);
  });

  test("a gateway with edits off passes on informational responses", async () => {
    const upstream = await startUpstream((heard, response, index) => {
      response.writeEarlyHints({ link: "</style.css>; rel=preload" });
      response.writeProcessing();
      says("after all")(heard, response, index);
    });
    const { gateway } = await passing(upstream);
    const answer = await ask(gateway, {
      path: MESSAGES,
      body: said("a"),
      headers: { expect: "100-continue" },
    });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain("after all");
    expect(answer.informed).toEqual([100, 103, 102]);
    expect(upstream.heard[0]?.header("expect")).toBeUndefined();
  });

  test("a gateway with edits off passes on models, token counts and other endpoints of a provider", async () => {
    const upstream = await startUpstream((heard, response) => {
      const text = JSON.stringify({ saw: `${heard.method} ${heard.url}`, bytes: heard.body.length });
      response.writeHead(200, { "content-type": "application/json", "content-length": text.length });
      response.end(heard.method === "HEAD" ? undefined : text);
    });
    const { gateway } = await passing(upstream);
    const models = await ask(gateway, { method: "GET", path: "/v1/models?limit=2" });
    expect(models.text).toBe(`{"saw":"GET /v1/models?limit=2","bytes":0}`);
    const head = await ask(gateway, { method: "HEAD", path: "/v1/models" });
    expect([head.status, head.text, head.isWhole]).toEqual([200, "", true]);
    const count = await ask(gateway, { path: `${MESSAGES}/count_tokens`, body: said("a") });
    expect(count.text).toContain("POST /v1/messages/count_tokens");
    const embeddings = await ask(gateway, { path: "/v1/embeddings", body: { model: "e", input: "a" } });
    expect(embeddings.text).toContain("POST /v1/embeddings");
    expect(await threadsOf(gateway)).toEqual([]);
    const unknown = await ask(gateway, { path: "/v1/nothing/like/this", body: {} });
    expect(unknown.status).toBe(404);
    expect(unknown.text).toContain("/v1/messages");
  });

  test("a gateway with edits off passes on redirects without the address of another host, and follows none", async () => {
    const elsewhere = await startUpstream();
    const upstream = await startUpstream((_, response) =>
      response.writeHead(307, { location: `${elsewhere.url}/v1/messages` }).end("moved"),
    );
    const { gateway } = await passing(upstream);
    const answer = await ask(gateway, { path: MESSAGES, body: said("a") });
    expect([answer.status, answer.text]).toEqual([307, "moved"]);
    // A client that followed the redirect would send its key there.
    expect(answer.header("location")).toBeUndefined();
    expect(elsewhere.heard).toEqual([]);
  });

  test("a gateway with edits off sends a request to the configured upstream, whatever the request says", async () => {
    const [first, second, elsewhere] = await Promise.all([startUpstream(), startUpstream(), startUpstream()]);
    const gateway = await startGateway({
      config: PASS,
      upstream: [
        { name: "first", baseUrl: first.url, apis: ["anthropic", "openai-chat"] },
        {
          name: "second",
          baseUrl: `${second.url}/api/v1`,
          apis: ["openai-chat", "anthropic"],
          prefix: "second/",
        },
      ],
    });
    const sly = {
      "x-forwarded-host": new URL(elsewhere.url).host,
      "x-upstream": elsewhere.url,
      "x-base-url": elsewhere.url,
      forwarded: `host=${new URL(elsewhere.url).host}`,
    };
    await ask(gateway, { path: MESSAGES, body: { ...said("a"), base_url: elsewhere.url }, headers: sly });
    await ask(gateway, { path: MESSAGES, body: { ...said("a"), model: "second/claude-x" } });
    expect([first.heard.length, second.heard.length, elsewhere.heard.length]).toEqual([1, 1, 0]);
    expect(second.heard[0]?.url).toBe("/api/v1/messages");
    expect(second.heard[0]?.json.model).toBe("claude-x");
    const absolute = await ask(gateway, { path: `${elsewhere.url}/v1/messages`, body: said("a") });
    expect(absolute.status).toBeGreaterThanOrEqual(400);
    expect(elsewhere.heard).toEqual([]);
  });

  test("a gateway with edits off sends the configured key to an upstream, and never the gateway's token", async () => {
    const upstream = await startUpstream();
    const token = "lh-0f8e7d6c5b4a39281706f5e4d3c2b1a0998877665544";
    const gateway = await startGateway({
      env: { LONGHAUL_TOKEN: token, PROVIDER_KEY: "sk-of-the-provider" },
      config: PASS,
      upstream: [{ name: "one", baseUrl: upstream.url, apis: ["anthropic"], keyEnv: "PROVIDER_KEY" }],
    });
    const refused = await ask(gateway, { path: MESSAGES, body: said("a") });
    expect(refused.status).toBe(401);
    const headers = { "x-api-key": token };
    expect((await ask(gateway, { path: MESSAGES, body: said("a"), headers })).status).toBe(200);
    expect(upstream.heard).toHaveLength(1);
    expect(upstream.heard[0]?.header("x-api-key")).toBe("sk-of-the-provider");
    expect(upstream.heard[0]?.rawHeaders.join()).not.toContain(token);
    expect(JSON.stringify(gateway.logged)).not.toContain(token);
  });
});

/** A request of the Messages API. */
function said(content: string, stream = false) {
  return { model: "claude-sonnet-4-5", max_tokens: 9, stream, messages: [{ role: "user", content }] };
}
