import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildUpstreamUrl, isSafePath } from "../../../../src/server/gateway/upstream/send-upstream.ts";
import { proofRounds, sizedTest } from "../../../support/proof.ts";

const href = (baseUrl: string, path: string, query = "") => {
  const { protocol, host, path: full } = buildUpstreamUrl({ baseUrl }, path, query);
  return `${protocol}//${host}${full}`;
};

describe("buildUpstreamUrl", () => {
  test.each([
    ["https://api.anthropic.com", "/v1/messages", "https://api.anthropic.com/v1/messages"],
    ["https://api.anthropic.com/", "/messages", "https://api.anthropic.com/v1/messages"],
    ["https://api.openai.com/v1", "/v1/chat/completions", "https://api.openai.com/v1/chat/completions"],
    ["https://api.openai.com/v1/", "/responses", "https://api.openai.com/v1/responses"],
    [
      "https://g.example/v1beta/openai",
      "/v1/chat/completions",
      "https://g.example/v1beta/openai/chat/completions",
    ],
    ["https://openrouter.ai/api/v1", "/v1/models", "https://openrouter.ai/api/v1/models"],
    ["https://other.example/anthropic", "/v1/messages", "https://other.example/anthropic/v1/messages"],
    ["https://r.openai.azure.com", "/responses", "https://r.openai.azure.com/openai/v1/responses"],
    ["https://r.openai.azure.com/openai/", "/responses", "https://r.openai.azure.com/openai/v1/responses"],
    ["https://r.openai.azure.com", "/openai/responses", "https://r.openai.azure.com/openai/responses"],
    [
      "https://r.azure.com/openai/v1",
      "/openai/deployments/d/x",
      "https://r.azure.com/openai/deployments/d/x",
    ],
    ["http://127.0.0.1:11434", "/v1/models/qwen:7b", "http://127.0.0.1:11434/v1/models/qwen:7b"],
    ["http://[::1]:8080/v1", "/v1/models", "http://[::1]:8080/v1/models"],
    ["http://localhost", "/v1", "http://localhost/v1"],
    ["http://localhost", "/v1models", "http://localhost/v1/v1models"],
  ])("the base %s and the path %s become %s", (baseUrl, path, expected) => {
    expect(href(baseUrl, path)).toBe(expected);
  });

  test("the connection to an IPv6 address uses no brackets", () => {
    expect(buildUpstreamUrl({ baseUrl: "http://[::1]:8080" }, "/v1/models")).toMatchObject({
      hostname: "::1",
      port: 8080,
      host: "[::1]:8080",
    });
    expect(buildUpstreamUrl({ baseUrl: "https://x.example" }, "/v1/models").port).toBe(443);
  });

  test("an upstream URL keeps the query byte for byte", () => {
    for (const query of ["?beta=true", "?", "?a=1&a=2&b=%2F..%2f'\"<>|", "?x=../../y", "?q=a+b%20c"])
      expect(href("https://x.example", "/v1/messages", query)).toBe(`https://x.example/v1/messages${query}`);
  });

  test("an upstream URL refuses a path that leads upward, however it is written", () => {
    for (const path of [
      "/v1/../admin",
      "/v1/./messages",
      "/v1/%2e%2e/admin",
      "/v1/.%2E/admin",
      "/v1/models/..%2fadmin",
      "/v1/models/x%5c..%5cadmin",
      "/v1\\..\\admin",
      "//evil.example/v1/messages",
      "/v1/messages#x",
      "/v1/mess ages",
      "/v1/a%0d%0aX: y",
      "/v1/a\r\nX: y",
      "v1/messages",
      "http://evil.example/v1/messages",
    ])
      expect(() => buildUpstreamUrl({ baseUrl: "https://x.example" }, path)).toThrow(/cannot be sent/);
  });

  test("an upstream URL refuses a base address that is not a web server's", () => {
    expect(() => buildUpstreamUrl({ baseUrl: "file:///etc" }, "/v1/messages")).toThrow(/baseUrl/);
  });

  sizedTest("whatever the path, the request stays at the upstream and below its base path", () => {
    const part = fc.constantFrom(
      ".",
      "..",
      "%2e",
      "%2E%2e",
      "/",
      "%2f",
      "\\",
      "%5C",
      "a",
      "v1",
      "%",
      "@x:80",
      ":",
    );
    fc.assert(
      fc.property(fc.oneof(fc.array(part), fc.array(fc.string())), (parts) => {
        const path = `/${parts.join("")}`;
        if (!isSafePath(path)) return;
        const url = new URL(
          href("https://x.example/api/v1", path).replace(/%5c/gi, "/").replace(/%2f/gi, "/"),
        );
        expect(url.host).toBe("x.example");
        expect(url.pathname.startsWith("/api/v1")).toBe(true);
      }),
      { numRuns: proofRounds(2_000) },
    );
  });
});

test("a path that names a server or nothing is not safe", () => {
  for (const path of [
    "http://evil.example/v1/messages",
    "evil.example:443",
    "*",
    "",
    "//evil.example/",
    "/a#c",
  ])
    expect(isSafePath(path)).toBe(false);
});
