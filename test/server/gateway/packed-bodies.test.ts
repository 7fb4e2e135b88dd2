import { gzipSync, zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { ask, startGateway, threadsOf } from "../../support/gateway.ts";
import { says, startUpstream } from "../../support/upstream.ts";

const PATH = "/v1/messages";

/** The bytes of a request with the given text, compressed. */
function pack(content: string, compress: (bytes: Buffer) => Buffer = zstdCompressSync): Buffer {
  const messages = [{ role: "user", content }];
  return compress(Buffer.from(JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 9, messages })));
}

test("an unedited compressed body stays compressed, and its words are stored", async () => {
  const upstream = await startUpstream();
  const gateway = await startGateway({ upstream: upstream.url });
  for (const [encoding, compress] of [
    ["zstd", zstdCompressSync],
    ["gzip", gzipSync],
  ] as const) {
    const body = pack(`compressed with ${encoding}`, compress);
    expect((await ask(gateway, { path: PATH, body, headers: { "content-encoding": encoding } })).status).toBe(
      200,
    );
    expect(upstream.heard.at(-1)?.body.equals(body)).toBe(true);
    expect(upstream.heard.at(-1)?.header("content-encoding")).toBe(encoding);
  }
  const sessions = await threadsOf(gateway, "main");
  const texts = await Promise.all(
    sessions.map(async ({ id }) => JSON.stringify(await (await gateway.kernel.session(id)).page())),
  );
  expect(texts.join()).toContain("compressed with zstd");
  expect(texts.join()).toContain("compressed with gzip");
});

test("an upstream that refuses a compressed body gets plain bodies from then on", async () => {
  const fine = says("Fine.");
  const upstream = await startUpstream((heard, response, index) => {
    if (heard.header("content-encoding") !== undefined)
      response.writeHead(400, { "content-type": "application/json" }).end('{"error":"no JSON"}');
    else fine(heard, response, index);
  });
  const gateway = await startGateway({ upstream: upstream.url });
  const headers = { "content-encoding": "zstd" };
  const send = async (text: string) => (await ask(gateway, { path: PATH, body: pack(text), headers })).status;
  expect([await send("one"), await send("two")]).toEqual([200, 200]);
  expect(upstream.heard.map((heard) => heard.header("content-encoding"))).toEqual([
    "zstd",
    undefined,
    undefined,
  ]);
  expect(upstream.heard.at(-1)?.json.messages[0].content).toBe("two");
});

test("a refused compressed request is not repeated if the upstream accepted compression before", async () => {
  const fine = says("Fine.");
  const upstream = await startUpstream((heard, response, index) => {
    if (index > 0) response.writeHead(400, { "content-type": "application/json" }).end('{"error":"bad"}');
    else fine(heard, response, index);
  });
  const gateway = await startGateway({ upstream: upstream.url });
  const headers = { "content-encoding": "zstd" };
  expect((await ask(gateway, { path: PATH, body: pack("one"), headers })).status).toBe(200);
  expect((await ask(gateway, { path: PATH, body: pack("two"), headers })).status).toBe(400);
  expect(upstream.heard).toHaveLength(2);
});
