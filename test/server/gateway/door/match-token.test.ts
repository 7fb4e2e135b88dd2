import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { admit } from "../../../../src/server/gateway/door/admit.ts";
import { environment, OTHER_TOKEN, principalOf, statusOf, TOKEN, withToken } from "./admission.ts";
import { doorConfig, messageRequest } from "./door-config.ts";

describe("the token", () => {
  test("the token is read from the headers of every API, and the result names the header to remove", () => {
    expect(principalOf(messageRequest({ authorization: `Bearer ${TOKEN}` }), withToken())).toMatchObject({
      token: "team",
      tokenHeader: "authorization",
    });
    for (const name of ["x-api-key", "api-key", "x-goog-api-key"])
      expect(principalOf(messageRequest({ [name]: TOKEN }), withToken()).tokenHeader).toBe(name);
    expect(
      principalOf(messageRequest({ "x-longhaul-token": TOKEN, "x-api-key": "own" }), withToken()).tokenHeader,
    ).toBe("x-longhaul-token");
  });

  test("a token may be configured by its digest only", () => {
    const sha256 = createHash("sha256").update(OTHER_TOKEN).digest("hex");
    const config = doorConfig({ tokens: [{ name: "other", sha256 }] });
    expect(statusOf(messageRequest({ "x-api-key": OTHER_TOKEN }), config)).toBe(200);
    expect(statusOf(messageRequest({ "x-api-key": TOKEN }), config)).toBe(401);
  });

  test.each([
    [{}],
    [{ "x-api-key": "" }],
    [{ "x-api-key": `${TOKEN} x` }],
    [{ "x-api-key": TOKEN.toUpperCase() }],
    [{ authorization: TOKEN }],
    [{ authorization: `Basic ${TOKEN}` }],
    [{ "x-longhaul-token": "wrong", "x-api-key": TOKEN }],
    [{ cookie: `token=${TOKEN}` }],
  ])("a request with a missing or wrong token gets a 401: %o", (headers) => {
    expect(statusOf(messageRequest(headers), withToken())).toBe(401);
  });

  test("a token whose variable is not set matches nothing", () => {
    const config = doorConfig({ tokens: [{ name: "gone", env: "NOT_SET" }] });
    expect(statusOf(messageRequest({ "x-api-key": "" }), config)).toBe(401);
    expect(statusOf(messageRequest({ "x-api-key": "undefined" }), config)).toBe(401);
  });

  test("a request with two tokens is refused", () => {
    expect(statusOf(messageRequest({ "x-api-key": [TOKEN, OTHER_TOKEN] }), withToken())).toBe(400);
  });

  test.each([
    "?token=",
    "?api_key=",
    "?API-Key=",
    "?x-api-key=",
    "?access_token=",
    "?a=1&key=",
    "?%74oken=",
    "?x=Bearer%20",
  ])("a token in the URL is refused and not repeated: %s", (query) => {
    const request = messageRequest({ "x-api-key": TOKEN }, { target: `/v1/messages${query}${TOKEN}` });
    const admission = admit(request, withToken(), environment);
    expect(admission).toMatchObject({ type: "refused", fault: { status: 400 } });
    expect(JSON.stringify(admission)).not.toContain(TOKEN);
  });

  test("a request without a token learns only that probes exist", () => {
    const status = (target: string) =>
      statusOf(
        messageRequest({ "content-type": undefined, "content-length": undefined }, { method: "GET", target }),
        withToken(),
      );
    expect([status("/nothing"), status("/metrics"), status("/api/v1/sessions")]).toEqual([401, 401, 401]);
    expect([status("/healthz"), status("/readyz"), status("/")]).toEqual([200, 200, 200]);
  });

  test("no refusal repeats a token", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 12 }), (secret) => {
        const admission = admit(
          messageRequest({ authorization: `Bearer ${secret}` }),
          withToken(),
          environment,
        );
        expect(JSON.stringify(admission)).not.toContain(JSON.stringify(secret).slice(1, -1));
      }),
    );
  });
});

describe("the principal", () => {
  test("without tokens, the principal is local, whatever credential is sent", () => {
    for (const headers of [{}, { "x-api-key": "sk-one" }, { authorization: "Bearer sk-two" }])
      expect(principalOf(messageRequest(headers))).toEqual({ id: "local", formerIds: [], role: "admin" });
  });

  test("the principal is named after the gateway's token, whatever provider key comes with it", () => {
    for (const key of ["sk-one", "sk-two"]) {
      const headers = { "x-longhaul-token": TOKEN, "x-api-key": key };
      const { id, token, formerIds } = principalOf(messageRequest(headers), withToken());
      expect(id).toBe(`@${token}`);
      expect(formerIds).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/)]);
    }
  });
});
