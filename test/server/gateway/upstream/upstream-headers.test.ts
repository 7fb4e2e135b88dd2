import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  buildUpstreamHeaders,
  findMissingCredential,
  getForwardedHeaders,
  getUpstreamKey,
  type OutgoingHeaderOptions,
} from "../../../../src/server/gateway/upstream/upstream-headers.ts";

const plain: OutgoingHeaderOptions = {
  api: "anthropic",
  host: "api.anthropic.com",
  bodyLength: 12,
  isBodyChanged: false,
  isResponseRead: false,
};
const claude = [
  ["Host", "127.0.0.1:4747"],
  ["X-Stainless-Lang", "js"],
  ["anthropic-beta", "one"],
  ["Anthropic-Beta", "two"],
  ["x-api-key", "sk-client"],
  ["Accept-Encoding", "gzip, br"],
  ["Connection", "keep-alive, X-Hop"],
  ["X-Hop", "1"],
  ["content-length", "999"],
].flat();

/** Pairs of a flat list. */
const pairs = (raw: readonly string[]) =>
  raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] as string] as const] : []));

describe("buildUpstreamHeaders", () => {
  test("the client's headers keep their order, case and number on the way to the upstream", () => {
    expect(pairs(buildUpstreamHeaders(claude, plain))).toEqual([
      ["Host", "api.anthropic.com"],
      ["X-Stainless-Lang", "js"],
      ["anthropic-beta", "one"],
      ["Anthropic-Beta", "two"],
      ["x-api-key", "sk-client"],
      ["Accept-Encoding", "gzip, br"],
      ["content-length", "12"],
    ]);
  });

  test("a configured key replaces the client's credentials", () => {
    const sent = buildUpstreamHeaders([...claude, "Authorization", "Bearer of-client"], {
      ...plain,
      key: "sk-own",
    });
    expect(sent.join(" ")).not.toContain("client");
    expect(pairs(sent).filter(([, value]) => value.includes("sk-own"))).toEqual([["x-api-key", "sk-own"]]);
    expect(sent.indexOf("x-api-key")).toBe(claude.indexOf("x-api-key"));
  });

  test("Anthropic's API gets the key as x-api-key even if the client sent a bearer", () => {
    const raw = ["Host", "x", "authorization", "Bearer of-client"];
    expect(pairs(buildUpstreamHeaders(raw, { ...plain, key: "sk-own", bodyLength: undefined }))).toEqual([
      ["Host", "api.anthropic.com"],
      ["x-api-key", "sk-own"],
    ]);
  });

  test("other upstreams with Anthropic's API get the key in both headers", () => {
    const sent = buildUpstreamHeaders(claude, { ...plain, host: "openrouter.ai", key: "sk-own" });
    expect(pairs(sent)).toContainEqual(["x-api-key", "sk-own"]);
    expect(pairs(sent)).toContainEqual(["Authorization", "Bearer sk-own"]);
  });

  test("OpenAI's APIs get the key as a bearer even if the client sent no key", () => {
    const sending = { ...plain, api: "openai-chat", host: "api.openai.com", key: "sk-own" } as const;
    expect(pairs(buildUpstreamHeaders(["Host", "x"], sending))).toEqual([
      ["Host", "api.openai.com"],
      ["Authorization", "Bearer sk-own"],
      ["Content-Length", "12"],
    ]);
  });

  test("a token of the gateway is never sent to an upstream", () => {
    const isGatewayToken = (credential: string) => credential === "gateway-token";
    const raw = [
      "Authorization",
      "Bearer gateway-token",
      "X-Api-Key",
      "gateway-token",
      "x-longhaul-token",
      "t",
    ];
    expect(buildUpstreamHeaders(raw, { ...plain, isGatewayToken }).join()).not.toMatch(
      /gateway-token|longhaul/,
    );
    expect(buildUpstreamHeaders(["X-Api-Key", "sk-client"], { ...plain, isGatewayToken })).toContain(
      "sk-client",
    );
  });

  test("an edited body goes out without the headers that described the original", () => {
    const raw = [
      "Accept-Encoding",
      "br",
      "Content-Encoding",
      "gzip",
      "Content-MD5",
      "x",
      "Expect",
      "100-continue",
    ];
    expect(pairs(buildUpstreamHeaders(raw, { ...plain, isBodyChanged: true, isResponseRead: true }))).toEqual(
      [
        ["Host", "api.anthropic.com"],
        ["Accept-Encoding", "identity"],
        ["Content-Length", "12"],
      ],
    );
    expect(buildUpstreamHeaders(raw, plain)).toContain("gzip");
  });

  test("a chunked body goes out with its length, and a request without a body gets no length", () => {
    const sent = buildUpstreamHeaders(["Transfer-Encoding", "chunked"], plain);
    expect(sent).toEqual(["Host", "api.anthropic.com", "Content-Length", "12"]);
    expect(buildUpstreamHeaders([], { ...plain, bodyLength: undefined })).toEqual([
      "Host",
      "api.anthropic.com",
    ]);
  });

  test("a Connection header cannot remove headers that the message needs", () => {
    const raw = [
      "Connection",
      "content-type, authorization",
      "Content-Type",
      "application/json",
      "Authorization",
      "a",
    ];
    expect(buildUpstreamHeaders(raw, plain)).toContain("application/json");
  });

  const name = fc.constantFrom(
    ...[
      "Connection",
      "Keep-Alive",
      "TE",
      "Trailer",
      "Transfer-Encoding",
      "Upgrade",
      "Proxy-Authorization",
      "Host",
    ],
    ...[
      "Content-Length",
      "X-Longhaul-Session",
      "x-api-key",
      "Authorization",
      "Accept-Encoding",
      "X-A",
      "x-a",
      "X-B",
    ],
  );
  const header = fc.tuple(name, fc.constantFrom("x-a", "1", "keep-alive, X-B", "Bearer t", "gzip"));
  const headers = fc.array(header, { maxLength: 20 });

  test("headers of the connection never pass, all others keep their order, and lengths are exact", () => {
    fc.assert(
      fc.property(
        headers,
        fc.boolean(),
        fc.option(fc.constant("key"), { nil: undefined }),
        (given, isEdited, key) => {
          const sent = pairs(
            buildUpstreamHeaders(given.flat(), {
              ...plain,
              isBodyChanged: isEdited,
              isResponseRead: isEdited,
              key,
            }),
          );
          const names = sent.map(([one]) => one.toLowerCase());
          expect(
            names.some((one) =>
              /^(connection|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-)/.test(one),
            ),
          ).toBe(false);
          expect(names.filter((one) => one === "host")).toHaveLength(1);
          expect(sent.filter(([one]) => /^content-length$/i.test(one)).map(([, value]) => value)).toEqual([
            "12",
          ]);
          const named = given
            .filter(([one]) => one === "Connection")
            .flatMap(([, value]) => value.toLowerCase().split(/, */));
          const free = (list: readonly (readonly [string, string])[]) =>
            list.filter(([one]) => /^x-[ab]$/i.test(one));
          expect(free(sent)).toEqual(free(given).filter(([one]) => !named.includes(one.toLowerCase())));
          const credentials = sent.filter(([one]) => /^(x-api-key|authorization)$/i.test(one));
          if (key) expect(credentials).toEqual([["x-api-key", "key"]]);
        },
      ),
    );
  });

  test("headers that are built twice stay the same", () => {
    fc.assert(
      fc.property(headers, (given) => {
        const once = buildUpstreamHeaders(given.flat(), plain);
        expect(buildUpstreamHeaders(once, plain)).toEqual(once);
      }),
    );
  });
});

describe("getForwardedHeaders", () => {
  test("an answer keeps all headers except those of the connection, in their order, case and number", () => {
    const raw = [
      "Date",
      "d",
      "Set-Cookie",
      "a",
      "Connection",
      "close, X-Y",
      "SET-COOKIE",
      "b",
      "x-y",
      "1",
      "Keep-Alive",
      "t",
    ];
    expect(getForwardedHeaders(raw)).toEqual(["Date", "d", "Set-Cookie", "a", "SET-COOKIE", "b"]);
    expect(getForwardedHeaders(["Transfer-Encoding", "chunked", "request-id", "r"])).toEqual([
      "request-id",
      "r",
    ]);
  });
});

describe("keys", () => {
  const upstream = {
    name: "anthropic",
    baseUrl: "https://x.example",
    apis: ["anthropic"],
    keyEnv: "KEY",
  } as const;

  test("an upstream's key comes from the variable that the upstream names", () => {
    expect(getUpstreamKey(upstream, { KEY: " sk-1\n" })).toBe("sk-1");
    expect(getUpstreamKey(upstream, { KEY: "" })).toBeUndefined();
    expect(getUpstreamKey({}, { KEY: "sk-1" })).toBeUndefined();
  });

  test("a request without a key on either side gets an error that names the variable", () => {
    expect(findMissingCredential(upstream, ["Host", "x"])).toMatchObject({
      status: 401,
      kind: "unauthorized",
    });
    expect(findMissingCredential(upstream, ["Host", "x"])?.message).toContain(
      "set KEY where the gateway runs",
    );
    expect(findMissingCredential(upstream, ["X-API-Key", "x"])).toBeUndefined();
    expect(findMissingCredential({ ...upstream, keyEnv: undefined } as never, [])).toBeUndefined();
  });
});
