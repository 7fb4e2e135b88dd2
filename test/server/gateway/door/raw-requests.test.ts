import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { doorConfig } from "./door-config.ts";
import { type DoorServer, sendRaw, startDoorServer, statusesOf } from "./door-server.ts";

let server: DoorServer;
beforeAll(async () => {
  server = await startDoorServer(doorConfig({ limits: { maxBodyBytes: 1_000 } }));
});
afterAll(() => server[Symbol.asyncDispose]());

const SECRET = "Zq8wSmuggledMarkerX1";
const SMUGGLED = `GET /v1/models?${SECRET} HTTP/1.1\r\nHost: evil.example\r\n\r\n`;

/** A request with the usual headers, the given ones, and the body. */
function request(headers: readonly string[], body = "", line = "POST /v1/messages HTTP/1.1"): string {
  const all = [`Host: 127.0.0.1:${server.port}`, "Content-Type: application/json", ...headers];
  return `${line}\r\n${all.join("\r\n")}\r\n\r\n${body}`;
}

describe("ambiguous requests", () => {
  test.each<[string, () => string]>([
    [
      "Content-Length and Transfer-Encoding",
      () => request(["Content-Length: 4", "Transfer-Encoding: chunked"], `0\r\n\r\n${SMUGGLED}`),
    ],
    [
      "Transfer-Encoding and Content-Length",
      () => request(["Transfer-Encoding: chunked", "Content-Length: 4"], `0\r\n\r\n${SMUGGLED}`),
    ],
    ["two lengths", () => request(["Content-Length: 2", "Content-Length: 60"], `{}${SMUGGLED}`)],
    ["two equal lengths", () => request(["Content-Length: 2", "Content-Length: 2"], `{}${SMUGGLED}`)],
    ["a list of lengths", () => request(["Content-Length: 2, 2"], `{}${SMUGGLED}`)],
    ["a signed length", () => request(["Content-Length: +2"], `{}${SMUGGLED}`)],
    ["a length in hexadecimal", () => request(["Content-Length: 0x2"], `{}${SMUGGLED}`)],
    ["an endless length", () => request(["Content-Length: 99999999999999999999"], `{}${SMUGGLED}`)],
    ["a strange coding", () => request(["Transfer-Encoding: xchunked"], `0\r\n\r\n${SMUGGLED}`)],
    [
      "two codings",
      () => request(["Transfer-Encoding: chunked", "Transfer-Encoding: identity"], `0\r\n\r\n${SMUGGLED}`),
    ],
    ["a coding before chunks", () => request(["Transfer-Encoding: gzip, chunked"], `0\r\n\r\n${SMUGGLED}`)],
    ["a space before the colon", () => request(["Transfer-Encoding : chunked"], `0\r\n\r\n${SMUGGLED}`)],
    ["a folded header", () => request(["X-A: b\r\n Transfer-Encoding: chunked"], `0\r\n\r\n${SMUGGLED}`)],
    ["a bare line feed", () => request(["X-A: b\nTransfer-Encoding: chunked"], `0\r\n\r\n${SMUGGLED}`)],
    [
      "a carriage return in a value",
      () => request(["X-A: b\rTransfer-Encoding: chunked"], `0\r\n\r\n${SMUGGLED}`),
    ],
    [
      "a chunk size that is none",
      () => request(["Transfer-Encoding: chunked"], `zz\r\n{}\r\n0\r\n\r\n${SMUGGLED}`),
    ],
    [
      "a body with GET",
      () => request([`Content-Length: ${SMUGGLED.length}`], SMUGGLED, "GET /v1/models HTTP/1.1"),
    ],
    [
      "chunks in HTTP/1.0",
      () => request(["Transfer-Encoding: chunked"], `0\r\n\r\n${SMUGGLED}`, "POST /v1/messages HTTP/1.0"),
    ],
  ])("a request with %s is refused, and no later bytes are read as a request", async (_name, bytes) => {
    const answer = await sendRaw(server.port, bytes());
    const statuses = statusesOf(answer);
    expect(statuses.length).toBeGreaterThanOrEqual(1);
    expect(statuses[0]).toBe(400);
    expect(statuses).not.toContain(200);
    expect(answer).not.toContain(SECRET);
  });
});

describe("malformed requests", () => {
  test.each<[string, () => string, number]>([
    ["noise", () => "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400],
    ["another protocol", () => `SSH-2.0-${SECRET}\r\n\r\n`, 400],
    ["HTTP/2 in plain text", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
    ["a header without a name", () => request([`: ${SECRET}`]), 400],
    ["a nul byte", () => request([`X-A: ${SECRET}\x00`]), 400],
    ["a huge header", () => request([`X-A: ${SECRET.repeat(2_000)}`]), 431],
    ["no host", () => "GET /healthz HTTP/1.1\r\n\r\n", 400],
    ["no host in HTTP/1.0", () => "GET /healthz HTTP/1.0\r\n\r\n", 400],
    ["two hosts", () => request([`Host: ${SECRET}.example`]), 400],
    [
      "a path of another server",
      () => request(["Content-Length: 2"], "{}", `POST http://${SECRET}.example/v1/messages HTTP/1.1`),
      400,
    ],
    ["traversal", () => request(["Content-Length: 2"], "{}", `POST /v1/../${SECRET} HTTP/1.1`), 400],
    ["a tunnel", () => `CONNECT ${SECRET}.example:443 HTTP/1.1\r\nHost: x\r\n\r\n`, 405],
    [
      "an upgrade",
      () => request(["Connection: Upgrade", "Upgrade: websocket"], "", "GET /v1/responses HTTP/1.1"),
      426,
    ],
    ["a strange expectation", () => request(["Expect: 200-maybe", "Content-Length: 2"], "{}"), 417],
  ])("a malformed request with %s gets only a status", async (_name, bytes, status) => {
    const answer = await sendRaw(server.port, bytes());
    expect(statusesOf(answer)).toEqual([status]);
    expect(answer).not.toContain(SECRET);
  });

  test("garbage after a request never appears in an answer", async () => {
    const answer = await sendRaw(server.port, request(["Content-Length: 2"], `{}\x00\x01${SECRET}\r\n\r\n`));
    expect(statusesOf(answer).length).toBeLessThanOrEqual(2);
    expect(answer).not.toContain(SECRET);
  });
});

test("several requests on one connection are each judged separately", async () => {
  const good = request(["Content-Length: 2"], "{}");
  const bad = request(["Content-Length: 2", "Origin: https://evil.example"], "{}");
  expect(statusesOf(await sendRaw(server.port, good + bad + good, 3))).toEqual([200, 403, 200]);
});

describe("a client that waits for permission to send", () => {
  test("a client that waits for permission to send its body gets it if the request is allowed", async () => {
    const answer = await sendRaw(
      server.port,
      request(["Expect: 100-continue", "Content-Length: 2"], "{}"),
      2,
    );
    expect(statusesOf(answer)).toEqual([100, 200]);
  });

  test("a client that waits for permission to send its body is refused at once if the request is not allowed", async () => {
    const large = await sendRaw(server.port, request(["Expect: 100-continue", "Content-Length: 2000"]));
    expect(statusesOf(large)).toEqual([413]);
    const stranger = request(["Expect: 100-continue", "Content-Length: 2", "Origin: https://evil.example"]);
    expect(statusesOf(await sendRaw(server.port, stranger))).toEqual([403]);
  });
});

test("a request behind a refused one on the same connection is not admitted, because nobody could answer it", async () => {
  const before = server.admitted;
  const fine = request(["Content-Length: 2"], "{}");
  const foreign = fine.replace(/Host: .*/, "Host: evil.example");
  const reply = await sendRaw(server.port, fine + foreign + fine, 3);
  const statuses = statusesOf(reply);
  expect(statuses.slice(0, 2)).toEqual([200, 403]);
  expect(server.admitted - before).toBe(statuses.filter((status) => status === 200).length);
});
