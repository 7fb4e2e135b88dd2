import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { admit } from "../../../../src/server/gateway/door/admit.ts";
import { proofRounds, sizedTest } from "../../../support/proof.ts";
import { environment, statusOf, TOKEN, withToken } from "./admission.ts";
import { doorConfig, messageRequest } from "./door-config.ts";

describe("the host", () => {
  test.each([
    ["127.0.0.1:4747", 200],
    ["localhost:4747", 200],
    ["LOCALHOST:4747", 200],
    ["localhost.:4747", 200],
    ["[::1]:4747", 200],
    ["localhost:4748", 403],
    ["localhost", 403],
    ["evil.example:4747", 403],
    ["127.0.0.1.evil.example:4747", 403],
    ["localhost:4747@evil.example", 400],
    ["localhost:4747, evil.example", 400],
    ["0.0.0.0:4747", 403],
    ["", 400],
  ])("a request with host %s is answered with %i", (host, status) => {
    expect(statusOf(messageRequest({ host }))).toBe(status);
  });

  test("a request with two hosts or none is refused", () => {
    expect(statusOf(messageRequest({ host: ["127.0.0.1:4747", "evil.example"] }))).toBe(400);
    expect(statusOf(messageRequest({ host: undefined }, { httpVersion: "1.0" }))).toBe(400);
  });

  test("a configured host is accepted with any port, but a configured port must match", () => {
    const config = doorConfig({ allowedHosts: ["gateway.example", "proxy.example:8443"] });
    expect(statusOf(messageRequest({ host: "gateway.example" }), config)).toBe(200);
    expect(statusOf(messageRequest({ host: "Gateway.Example:9999" }), config)).toBe(200);
    expect(statusOf(messageRequest({ host: "proxy.example:8443" }), config)).toBe(200);
    expect(statusOf(messageRequest({ host: "proxy.example" }), config)).toBe(403);
  });

  test("on all addresses, the host may be the address that the client connected to", () => {
    const config = doorConfig({ host: "0.0.0.0" });
    const facts = { localAddress: "::ffff:10.0.0.5" };
    expect(statusOf(messageRequest({ host: "10.0.0.5:4747" }, facts), config)).toBe(200);
    expect(statusOf(messageRequest({ host: "10.0.0.6:4747" }, facts), config)).toBe(403);
    expect(statusOf(messageRequest({ host: "rebound.example:4747" }, facts), config)).toBe(403);
  });
});

describe("the origin", () => {
  test.each([
    [{ origin: "https://evil.example" }, 403],
    [{ origin: "null" }, 403],
    [{ origin: "http://localhost:4747" }, 403],
    [{ origin: "http://127.0.0.1:4747" }, 200],
    [{ origin: "http://127.0.0.1:4747", "sec-fetch-site": "cross-site" }, 403],
    [{ origin: ["https://tool.example", "https://evil.example"] }, 400],
    [{ origin: "https://tool.example", "sec-fetch-site": "cross-site" }, 200],
    [{ origin: "https://tool.example.evil.example" }, 403],
    [{ "sec-fetch-site": "cross-site" }, 403],
    [{ "sec-fetch-site": "same-site" }, 403],
    [{ "sec-fetch-site": "none" }, 200],
    [{ "sec-fetch-site": "same-origin" }, 200],
    [{ "sec-fetch-mode": "cors" }, 200],
  ])("a request with the origin headers %o is answered with %i", (headers, status) => {
    const config = doorConfig({ allowedOrigins: ["https://tool.example"] });
    expect(statusOf(messageRequest(headers), config)).toBe(status);
  });

  test("a star in the configuration does not allow every origin", () => {
    const config = doorConfig({ allowedOrigins: ["*", "null"] });
    expect(statusOf(messageRequest({ origin: "https://evil.example" }), config)).toBe(403);
    expect(statusOf(messageRequest({ origin: "*" }), config)).toBe(403);
    expect(statusOf(messageRequest({ origin: "null" }), config)).toBe(403);
  });

  test("a foreign origin is refused before the path and token are checked, so that a page learns nothing", () => {
    const page = { origin: "https://evil.example", "x-api-key": TOKEN };
    const refusals = ["/v1/messages", "/nothing", "/../x", "http://other/"].map((target) =>
      admit(messageRequest(page, { target }), withToken(), environment),
    );
    for (const refusal of refusals)
      expect(refusal).toMatchObject({ type: "refused", fault: { status: 403 }, headers: {} });
  });

  test("a preflight is answered only for an allowed origin", () => {
    const config = doorConfig({ ...withToken(), allowedOrigins: ["https://tool.example"] });
    const preflight = (origin: string) =>
      admit(
        messageRequest(
          {
            origin,
            "access-control-request-method": "POST",
            "access-control-request-headers": "x-api-key, content-type, bad\u0000name",
            "content-type": undefined,
            "content-length": undefined,
          },
          { method: "OPTIONS" },
        ),
        config,
        environment,
      );
    expect(preflight("https://tool.example")).toMatchObject({
      type: "preflight",
      headers: {
        "access-control-allow-origin": "https://tool.example",
        "access-control-allow-headers": "x-api-key, content-type",
        vary: "Origin",
      },
    });
    expect(preflight("https://evil.example")).toMatchObject({ type: "refused", fault: { status: 403 } });
  });
});

describe("the announced body", () => {
  test.each([
    [{ "content-type": "application/json; charset=utf-8" }, 200],
    [{ "content-type": "Application/JSON;charset=UTF-8" }, 200],
    [{ "content-type": "application/json; charset=latin1" }, 415],
    [{ "content-type": "text/plain" }, 415],
    [{ "content-type": "application/x-www-form-urlencoded" }, 415],
    [{ "content-type": "multipart/form-data; boundary=x" }, 415],
    [{ "content-type": undefined }, 415],
    [{ "content-type": ["application/json", "text/plain"] }, 415],
    [{ "content-encoding": "gzip" }, 200],
    [{ "content-encoding": "zstd" }, 200],
    [{ "content-encoding": "BR" }, 200],
    [{ "content-encoding": "identity" }, 200],
    [{ "content-encoding": "gzip, gzip" }, 415],
    [{ "content-encoding": "compress" }, 415],
    [{ "content-encoding": ["gzip", "br"] }, 415],
    [{ "content-length": "1000001" }, 413],
    [{ "content-length": "-1" }, 400],
    [{ "content-length": "1e3" }, 400],
    [{ "content-length": "0x10" }, 400],
    [{ "content-length": "5, 5" }, 400],
    [{ "content-length": ["5", "5"] }, 400],
    [{ "transfer-encoding": "chunked" }, 400],
    [{ "content-length": undefined, "transfer-encoding": "chunked" }, 200],
    [{ "content-length": undefined, "transfer-encoding": "gzip, chunked" }, 400],
    [{ "content-length": undefined, "transfer-encoding": ["chunked", "chunked"] }, 400],
    [{ "content-length": undefined, "transfer-encoding": "xchunked" }, 400],
  ])("a request with the body headers %o is answered with %i", (headers, status) => {
    expect(statusOf(messageRequest(headers))).toBe(status);
  });

  test("a form is accepted only for paths that pass files through", () => {
    const form = { "content-type": "multipart/form-data; boundary=----x1" };
    expect(statusOf(messageRequest(form, { target: "/v1/files" }))).toBe(200);
    expect(statusOf(messageRequest(form, { target: "/v1/chat/completions" }))).toBe(415);
  });

  test("a GET with a body and an HTTP/1.0 request with chunks are refused", () => {
    expect(statusOf(messageRequest({}, { method: "GET", target: "/v1/models" }))).toBe(400);
    const chunked = messageRequest(
      { "content-length": undefined, "transfer-encoding": "chunked" },
      { httpVersion: "1.0" },
    );
    expect(statusOf(chunked)).toBe(400);
  });

  test("a request that needs no content may come without a body", () => {
    const cancel = messageRequest(
      { "content-type": undefined, "content-length": undefined },
      { target: "/v1/responses/resp_1/cancel" },
    );
    expect(statusOf(cancel)).toBe(200);
  });
});

test("an unsupported method is refused with the list of allowed methods", () => {
  const refused = admit(messageRequest({}, { method: "TRACE" }), doorConfig());
  expect(refused).toMatchObject({
    fault: { status: 405 },
    headers: { allow: "GET, HEAD, POST, PATCH, DELETE" },
  });
  const got = messageRequest({ "content-type": undefined, "content-length": undefined }, { method: "GET" });
  expect(admit(got, doorConfig())).toMatchObject({
    fault: { status: 405 },
    headers: { allow: "POST" },
    api: "anthropic",
  });
});

test("a refusal names the API whose error form it uses", () => {
  const refused = admit(messageRequest({ "content-type": "text/plain" }), doorConfig());
  expect(refused).toMatchObject({ type: "refused", api: "anthropic" });
});

sizedTest("no request makes the door throw, and none with a strange host or origin gets in", () => {
  const strange = fc.record({
    method: fc.oneof(fc.constantFrom("GET", "POST", "OPTIONS"), fc.string()),
    target: fc.oneof(fc.webPath(), fc.string(), fc.constant("/v1/messages")),
    host: fc.oneof(fc.string(), fc.domain(), fc.constant("127.0.0.1:4747")),
    origin: fc.option(fc.oneof(fc.string(), fc.webUrl()), { nil: undefined }),
    type: fc.oneof(fc.string(), fc.constant("application/json")),
    length: fc.oneof(fc.string(), fc.nat().map(String)),
  });
  fc.assert(
    fc.property(strange, ({ method, target, host, origin, type, length }) => {
      const headers = { host, origin, "content-type": type, "content-length": length };
      const admission = admit(messageRequest(headers, { method, target }), doorConfig());
      if (admission.type === "refused") return;
      expect(["127.0.0.1", "localhost", "[::1]"]).toContain(host.toLowerCase().replace(/\.?:4747$/, ""));
      expect(origin === undefined || origin.toLowerCase() === `http://${host}`.toLowerCase()).toBe(true);
    }),
    { numRuns: proofRounds(200) },
  );
});
