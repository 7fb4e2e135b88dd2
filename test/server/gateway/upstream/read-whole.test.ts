import type { IncomingMessage } from "node:http";
import { request } from "node:http";
import zlib from "node:zlib";
import { describe, expect, test } from "vitest";
import { readUpstreamBody } from "../../../../src/server/gateway/upstream/send-upstream.ts";
import { serve } from "./server.ts";

const get = (url: string) =>
  new Promise<IncomingMessage>((resolve, reject) => request(url, resolve).on("error", reject).end());

/** A response with these bytes as its body. */
async function answered(bytes: Uint8Array, encoding?: string): Promise<IncomingMessage> {
  const { url } = await serve((_, response) => {
    if (encoding) response.setHeader("content-encoding", encoding);
    response.end(bytes);
  });
  return get(url);
}

const text = Buffer.from('{"error":{"message":"prompt is too long é"}}');

describe("readUpstreamBody", () => {
  const encodings: readonly (readonly [string, Uint8Array])[] = [
    ["identity", text],
    ["gzip", zlib.gzipSync(text)],
    ["x-gzip", zlib.gzipSync(text)],
    ["deflate", zlib.deflateSync(text)],
    ["deflate", zlib.deflateRawSync(text)],
    ["br", zlib.brotliCompressSync(text)],
    ["gzip, br", zlib.brotliCompressSync(zlib.gzipSync(text))],
    ...(zlib.zstdCompressSync ? [["zstd", zlib.zstdCompressSync(text)] as const] : []),
  ];
  test.each(encodings)("readUpstreamBody decodes %s", async (encoding, bytes) => {
    const { raw, decoded } = await readUpstreamBody(await answered(bytes, encoding), 10_000);
    expect(raw).toEqual(Buffer.from(bytes));
    expect(decoded).toEqual(text);
  });

  test("readUpstreamBody returns undecodable bytes unchanged", async () => {
    for (const encoding of ["gzip", "compress"]) {
      const { raw, decoded } = await readUpstreamBody(await answered(text, encoding), 10_000);
      expect([raw, decoded]).toEqual([text, undefined]);
    }
  });

  test("readUpstreamBody stops decoding at the limit", async () => {
    const bomb = zlib.gzipSync(Buffer.alloc(5_000_000));
    expect((await readUpstreamBody(await answered(bomb, "gzip"), 100_000)).decoded).toBeUndefined();
  });

  test("readUpstreamBody refuses a body beyond the limit", async () => {
    const body = await answered(Buffer.alloc(100_000));
    await expect(readUpstreamBody(body, 99_999)).rejects.toMatchObject({ reason: "too-large" });
    expect(body.destroyed).toBe(true);
    expect((await readUpstreamBody(await answered(Buffer.alloc(100_000)), 100_000)).raw).toHaveLength(
      100_000,
    );
  });

  test("readUpstreamBody rejects a body that was cut", async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half", () => response.destroy());
    });
    await expect(readUpstreamBody(await get(url), 1_000)).rejects.toMatchObject({ reason: "reset" });
  });

  test("readUpstreamBody gives up a body that falls silent", async () => {
    const { url } = await serve((_, response) => void response.write("half"));
    await expect(readUpstreamBody(await get(url), 1_000, { idleMs: 50 })).rejects.toMatchObject({
      reason: "idle",
    });
  });
});
