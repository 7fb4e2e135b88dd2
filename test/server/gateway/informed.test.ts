import { request as openRequest } from "node:http";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway.ts";
import { says, startUpstream } from "../../support/upstream.ts";

const BODY = JSON.stringify({
  model: "claude-sonnet-4-5",
  max_tokens: 100,
  messages: [{ role: "user", content: "Hello." }],
});

/** A provider that sends early hints before its reply. */
function hinting(times = 1) {
  return startUpstream((heard, response, index) => {
    for (let time = 0; time < times; time++)
      response.writeEarlyHints({ link: "</a.css>; rel=preload", "x-hint": `number ${time}` });
    response.writeProcessing();
    says("after all")(heard, response, index);
  });
}

interface Informed {
  readonly status: number;
  readonly hints: readonly (readonly [number, string | undefined])[];
}

/** Sends a request, and waits for "100 Continue" before the body. */
function askPatiently({ url }: TestGateway): Promise<Informed> {
  const { hostname, port } = new URL(url);
  const headers = {
    "content-type": "application/json",
    "content-length": BODY.length,
    "x-api-key": "key",
    expect: "100-continue",
  };
  return new Promise((resolve, reject) => {
    const hints: [number, string | undefined][] = [];
    const request = openRequest({ hostname, port, path: "/v1/messages", method: "POST", headers });
    request.on("continue", () => request.end(BODY));
    request.on("information", ({ statusCode, headers: { "x-hint": hint } }) =>
      hints.push([statusCode, hint?.toString()]),
    );
    request.on("response", (answer) => {
      answer.resume();
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, hints }));
    });
    request.on("error", reject);
    request.flushHeaders();
  });
}

/** Everything received for bytes sent on a socket. */
function sendBytes({ port }: TestGateway, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let came = "";
    socket.on("data", (bytes) => {
      came += bytes.toString("latin1");
    });
    socket.on("close", () => resolve(came));
    socket.on("error", reject);
  });
}

const head = ({ port }: TestGateway, version: string) =>
  `POST /v1/messages HTTP/${version}\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nX-Api-Key: key\r\n` +
  `Content-Length: ${BODY.length}\r\nConnection: close\r\n\r\n${BODY}`;

describe.each(["none", "longhaul"])("informational responses, policy %s", (policy) => {
  test("informational responses reach the client with their headers, after the permission to send a body", async () => {
    const gateway = await startGateway({ upstream: (await hinting()).url, config: { policy } });
    const { status, hints } = await askPatiently(gateway);
    expect(status).toBe(200);
    expect(hints).toEqual([
      [100, undefined],
      [103, "number 0"],
      [102, undefined],
    ]);
  });

  test("informational responses have the right form on the wire", async () => {
    const gateway = await startGateway({ upstream: (await hinting()).url, config: { policy } });
    const came = await sendBytes(gateway, head(gateway, "1.1"));
    expect(came.startsWith("HTTP/1.1 103 Early Hints\r\n")).toBe(true);
    expect(came).toMatch(/\r\n\r\nHTTP\/1\.1 102 Processing\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  });

  test("informational responses are withheld from HTTP/1.0 clients and limited in number", async () => {
    const gateway = await startGateway({ upstream: (await hinting(300)).url, config: { policy } });
    const old = await sendBytes(gateway, head(gateway, "1.0"));
    expect(old).toMatch(/^HTTP\/1\.[01] 200 OK\r\n/);
    expect(old).not.toContain("Early Hints");
    const came = await sendBytes(gateway, head(gateway, "1.1"));
    expect(came.match(/103 Early Hints/g)?.length).toBeLessThanOrEqual(100);
    expect(came).toContain("200 OK");
  });
});
