import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findRoute } from "../../../../src/server/gateway/door/route.ts";

describe("a path", () => {
  test.each([
    ["/v1/messages", "anthropic", "create"],
    ["/messages", "anthropic", "create"],
    ["/v1/v1/messages", "anthropic", "create"],
    ["/v1/messages/", "anthropic", "create"],
    ["/anthropic/v1/messages", "anthropic", "create"],
    ["/v1/messages/count_tokens", "anthropic", "count"],
    ["/v1/chat/completions", "openai-chat", "create"],
    ["/chat/completions", "openai-chat", "create"],
    ["/openai/v1/chat/completions", "openai-chat", "create"],
    ["/api/v1/chat/completions", "openai-chat", "create"],
    ["/v1beta/openai/chat/completions", "openai-chat", "create"],
    ["/v1/responses", "openai-responses", "create"],
    ["/openai/responses", "openai-responses", "create"],
    ["/v1/responses/input_tokens", "openai-responses", "count"],
    ["/v1/responses/compact", "openai-responses", "compact"],
  ])("the path %s belongs to %s: %s", (path, api, action) => {
    expect(findRoute("POST", path)).toMatchObject({ type: "api", api, action });
  });

  test.each([
    ["POST", "/v1/embeddings", "openai-chat", "/embeddings"],
    ["POST", "/v1/completions", "openai-chat", "/completions"],
    ["GET", "/v1/models/gpt-5", "openai-chat", "/models/gpt-5"],
    ["GET", "/anthropic/v1/models/claude-x", "anthropic", "/models/claude-x"],
    ["POST", "/v1/messages/batches", "anthropic", "/messages/batches"],
    ["GET", "/v1/messages/batches/b1/results", "anthropic", "/messages/batches/b1/results"],
    ["POST", "/v1/files", "openai-chat", "/files"],
    ["GET", "/v1/responses/resp_1", "openai-responses", "/responses/resp_1"],
    ["DELETE", "/v1/responses/resp_1", "openai-responses", "/responses/resp_1"],
    ["GET", "/v1/chat/completions", "openai-chat", "/chat/completions"],
  ])("the request %s %s passes through to %s", (method, path, api, rest) => {
    expect(findRoute(method, path)).toEqual({ type: "pass", api, path: rest });
  });

  test("a path below /api/v1 that a provider also has goes to the provider", () => {
    expect(findRoute("POST", "/api/v1/chat/completions")).toMatchObject({ type: "api", api: "openai-chat" });
    expect(findRoute("GET", "/api/v1/models")).toMatchObject({ type: "models" });
    expect(findRoute("PATCH", "/v1/files")).toMatchObject({ type: "unknown" });
  });

  test.each([
    ["/api/chat", "Ollama"],
    ["/api/generate", "Ollama"],
    ["/api/v1/chat", "LM Studio"],
    ["/api/v0/chat/completions", "LM Studio"],
  ])("the path %s is recognized as an API of %s and is not forwarded", (path, name) => {
    expect(findRoute("POST", path)).toEqual({ type: "unknown", foreign: expect.stringContaining(name) });
  });

  test("a path of Google's API names the model and whether the reply is streamed", () => {
    const path = "/v1beta/models/gemini-2.5-pro:streamGenerateContent";
    const streamed = {
      type: "api",
      api: "google",
      action: "create",
      model: "gemini-2.5-pro",
      isStreamed: true,
    };
    expect(findRoute("POST", path)).toEqual({ ...streamed, path });
    expect(findRoute("POST", `/google${path}`)).toEqual({ ...streamed, path });
    const vertex = "/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:generateContent";
    expect(findRoute("POST", vertex)).toEqual({ ...streamed, isStreamed: false, path: vertex });
    const count = "/v1beta/models/gemini-2.5-pro:countTokens";
    expect(findRoute("POST", count)).toMatchObject({ action: "count", model: "gemini-2.5-pro", path: count });
    const first = "/v1/models/gemini-2.5-pro:streamGenerateContent";
    expect(findRoute("POST", first)).toEqual({ ...streamed, path: first });
    expect(findRoute("POST", "/v1/models/text-embedding-004:embedContent")).toMatchObject({ api: "google" });
    for (const openai of ["/v1/models/ft:gpt-4o:org::id", "/v1/models/gpt-5"])
      expect(findRoute("GET", openai)).toEqual({ type: "pass", api: "openai-chat", path: openai.slice(3) });
    expect(findRoute("POST", "/v1beta/interactions")).toMatchObject({ type: "api", action: "create" });
    for (const other of ["/v1beta/interactions/x/cancel", "/v1beta/cachedContents/x", "/upload/v1beta/files"])
      expect(findRoute("POST", other)).toEqual({ type: "pass", api: "google", path: other });
    expect(findRoute("POST", "/v1beta/openai/chat/completions")).toMatchObject({ api: "openai-chat" });
  });

  test.each([
    ["/openai/deployments/gpt-4o/chat/completions", "openai-chat", "gpt-4o", undefined],
    ["/openai/deployments/gpt-5/responses", "openai-responses", "gpt-5", undefined],
    [
      "/v1/projects/p/locations/l/publishers/anthropic/models/claude-x:rawPredict",
      "anthropic",
      "claude-x",
      undefined,
    ],
    [
      "/v1/projects/p/locations/l/publishers/anthropic/models/claude-x:streamRawPredict",
      "anthropic",
      "claude-x",
      true,
    ],
    ["/model/anthropic.claude-x-v1%3A0/invoke", "anthropic", "anthropic.claude-x-v1:0", false],
    [
      "/model/anthropic.claude-x-v1%3A0/invoke-with-response-stream",
      "anthropic",
      "anthropic.claude-x-v1:0",
      true,
    ],
  ])("the path %s serves %s at another address and names the model", (path, api, model, isStreamed) => {
    expect(findRoute("POST", path)).toMatchObject({ type: "api", action: "create", api, model, path });
    expect(findRoute("POST", path)).toHaveProperty("path", path);
    expect((findRoute("POST", path) as { isStreamed?: boolean }).isStreamed).toBe(isStreamed);
    expect(findRoute("GET", path)).toMatchObject({ type: "unknown", allow: ["POST"], api });
  });

  test.each([
    ["converse", "invoke", false],
    ["converse-stream", "invoke-with-response-stream", true],
  ])("a path of Bedrock's %s is sent as %s", (verb, asked, isStreamed) => {
    const arn = "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fx";
    const route = { type: "api", api: "anthropic", action: "create", path: `${arn}/${asked}`, isStreamed };
    expect(findRoute("POST", `${arn}/${verb}`)).toMatchObject(route);
    expect(findRoute("GET", `${arn}/${verb}`)).toMatchObject({ type: "unknown", allow: ["POST"] });
  });

  test("a path that several providers have goes to the provider of the client's API", () => {
    expect(findRoute("GET", "/v1/models", "anthropic")).toMatchObject({ type: "models", api: "anthropic" });
    expect(findRoute("GET", "/v1/models")).toMatchObject({ type: "models", api: "openai-chat" });
    expect(findRoute("POST", "/v1/files", "anthropic")).toMatchObject({ type: "pass", api: "anthropic" });
  });

  test.each([
    ["/", "dashboard", []],
    ["/assets/index-1.js", "asset", ["index-1.js"]],
    ["/healthz", "healthz", []],
    ["/readyz", "readyz", []],
    ["/metrics", "metrics", []],
    ["/openapi.json", "openapi", []],
    ["/api/v1", "v1", []],
    ["/api/v1/sessions/a%2Fb/entries", "v1", ["sessions", "a%2Fb", "entries"]],
    ["/api/v1/nothing", "v1", ["nothing"]],
  ])("the path %s is the page %s", (path, name, rest) => {
    expect(findRoute("GET", path)).toEqual({ type: "page", name, rest });
  });

  test.each([
    "/v1",
    "/v2/messages",
    "/admin",
    "/api/secrets",
    "/api/status",
    "/api/sessions/a/b",
    "/__proto__",
    "/v1/constructor",
    "/api/toString",
  ])("the path %s is unknown", (path) => {
    expect(findRoute("GET", path)).toEqual({ type: "unknown" });
  });

  test("a path with an unsupported method names the supported methods", () => {
    expect(findRoute("GET", "/v1/messages")).toEqual({ type: "unknown", allow: ["POST"], api: "anthropic" });
    expect(findRoute("POST", "/metrics")).toEqual({ type: "unknown", allow: ["GET", "HEAD"] });
    expect(findRoute("PUT", "/v1/files")).toMatchObject({ type: "unknown", allow: expect.anything() });
  });

  test("no path makes routing throw", () => {
    fc.assert(fc.property(fc.string(), fc.string(), (method, path) => void findRoute(method, `/${path}`)));
  });
});
