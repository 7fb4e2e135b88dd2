import { request as httpRequest } from "node:http";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { proofRounds, sizedTest } from "../../../support/proof.ts";
import { doorConfig } from "./door-config.ts";
import { type DoorServer, openSocket, startDoorServer } from "./door-server.ts";

const MOST = 300_000;
let server: DoorServer;
beforeAll(async () => {
  server = await startDoorServer(doorConfig({ limits: { maxBodyBytes: MOST, bodyMs: 500 } }));
});
afterAll(() => server[Symbol.asyncDispose]());

async function post(body: Uint8Array | string, headers: Record<string, string> = {}) {
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  const answer = (await response.json()) as { head: string };
  return { status: response.status, answer };
}

const PACKED = {
  gzip: gzipSync,
  "x-gzip": gzipSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
  deflate: deflateSync,
} as const;

describe("a body", () => {
  sizedTest("a body arrives as it was sent, whatever its size", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 4_000 }), async (bytes) => {
        expect(await post(bytes)).toMatchObject({ status: 200, answer: { bytes: bytes.length } });
      }),
      { numRuns: proofRounds(20) },
    );
  });

  test.each(Object.entries(PACKED))("a body packed as %s is unpacked", async (encoding, pack) => {
    const packed = pack(Buffer.from(JSON.stringify({ text: "hello ".repeat(1_000) })));
    const { status, answer } = await post(packed, { "content-encoding": encoding });
    expect(status).toBe(200);
    expect(answer).toMatchObject({ bytes: 6_011, rawBytes: packed.length });
    expect(answer.head).toContain('{"text":"hello hello');
  });

  test("a body packed as raw deflate is unpacked too", async () => {
    const { answer } = await post(deflateRawSync(Buffer.from('{"text":"hello hello hello"}')), {
      "content-encoding": "deflate",
    });
    expect(answer.head).toBe('{"text":"hello hello hello"}');
  });

  test.each(Object.entries(PACKED))(
    "a body that unpacks to more than the limit is refused: %s",
    async (encoding, pack) => {
      const bomb = pack(Buffer.alloc(3_000_000));
      expect(bomb.length).toBeLessThan(MOST);
      expect(await post(bomb, { "content-encoding": encoding })).toMatchObject({
        status: 413,
        answer: { kind: "too_large" },
      });
    },
  );

  test("a body whose encoding differs from the declared encoding is refused", async () => {
    expect((await post("{}", { "content-encoding": "gzip" })).status).toBe(400);
    const whole = gzipSync(Buffer.from("{}".repeat(500)));
    expect((await post(whole.subarray(0, whole.length - 8), { "content-encoding": "gzip" })).status).toBe(
      400,
    );
  });

  test("a body that is announced as too large is refused before it is read, and the client gets the status", async () => {
    const before = server.admitted;
    expect((await post(Buffer.alloc(MOST + 1))).status).toBe(413);
    expect(server.admitted).toBe(before);
  });

  test("a body that turns out to be too large is refused while it is read", async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest(
        {
          port: server.port,
          host: "127.0.0.1",
          path: "/v1/messages",
          method: "POST",
          headers: { "content-type": "application/json", "transfer-encoding": "chunked" },
        },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      request.on("error", reject);
      for (let sent = 0; sent < MOST + 100_000; sent += 50_000) request.write(Buffer.alloc(50_000));
      request.end();
    });
    expect(status).toBe(413);
  });

  test("a body that arrives too slowly is refused when its time is up", async () => {
    const socket = await openSocket(server.port);
    const head = `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`;
    const answer = new Promise<string>((resolve) =>
      socket.once("data", (chunk) => resolve(chunk.toString())),
    );
    socket.write(head);
    const drip = setInterval(() => socket.write("x"), 50);
    expect(await answer).toMatch(/^HTTP\/1\.1 408 /);
    clearInterval(drip);
    socket.destroy();
  });

  test("a body whose sender disconnects is given up", async () => {
    const gone = () => server.read.filter((type) => type === "gone").length;
    const before = gone();
    const socket = await openSocket(server.port);
    const admitted = server.admitted;
    socket.write(
      `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
    );
    await expect.poll(() => server.admitted).toBe(admitted + 1);
    socket.destroy();
    await expect.poll(gone).toBe(before + 1);
  });
});
