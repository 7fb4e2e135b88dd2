import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  detectClient,
  findExplicitId,
  findNamedClient,
} from "../../../../src/server/gateway/identity/conversation-keys.ts";
import { proofTest } from "../../../support/proof.ts";

const SESSION = "590581d7-b8b4-47fb-aa8a-db9ca653cc43";
const idOf = (headers: Record<string, string>, fields = {}) => findExplicitId({ headers, fields })?.id;

describe("the session that a request names", () => {
  test("longhaul's own header names the session, whatever other ids are present", () => {
    const headers = { "x-longhaul-session": "mine", "x-claude-code-session-id": SESSION };
    expect(findExplicitId({ headers, fields: {} })).toMatchObject({
      id: "mine",
      source: "x-longhaul-session",
    });
  });

  test.each([
    ["Claude Code's header", { "x-claude-code-session-id": SESSION }, {}],
    [
      "Claude Code's user id",
      {},
      { metadata: { user_id: JSON.stringify({ device_id: "d", session_id: SESSION }) } },
    ],
    ["Claude Code's older user id", {}, { metadata: { user_id: `user_ab12_account__session_${SESSION}` } }],
    ["Codex's header", { "session-id": SESSION, "thread-id": SESSION }, { prompt_cache_key: SESSION }],
    ["Codex's older header", { session_id: SESSION }, {}],
    ["opencode's headers", { "x-session-affinity": SESSION, "x-session-id": SESSION }, {}],
    ["OpenCode's service", { "x-opencode-session": SESSION }, {}],
    ["goose's header", { "agent-session-id": SESSION }, {}],
    ["an agent's cache key that is unique", { "user-agent": "Cline/3.2" }, { prompt_cache_key: SESSION }],
    ["a conversation of the Responses API", {}, { conversation: { id: SESSION } }],
    ["the name of a conversation", {}, { conversation: SESSION }],
    ["OpenRouter's field", {}, { session_id: SESSION }],
    ["metadata", {}, { metadata: { conversation_id: SESSION } }],
  ])("the session id is found in %s", (_, headers, fields) => {
    expect(idOf(headers, fields)).toBe(SESSION);
  });

  test.each([
    ["the user", {}, { user: "user-12345678" }],
    ["a user id without a session", {}, { metadata: { user_id: "user_ab12_account_x" } }],
    ["JSON that holds none", {}, { metadata: { user_id: '{"device_id":"d"}' } }],
    ["broken JSON", {}, { metadata: { user_id: '{"session_id":' } }],
    ["the id of one request", { "x-client-request-id": SESSION, "x-request-id": SESSION }, {}],
    ["an agent's cache key for all", { "user-agent": "Cline/3.2" }, { prompt_cache_key: "my-app" }],
    ["a cache key of a program that nobody knows", {}, { prompt_cache_key: SESSION }],
    [
      "a cache key that is the user",
      { "user-agent": "Cline/3.2" },
      { prompt_cache_key: "customer-2024-1234", user: "customer-2024-1234" },
    ],
    ["a placeholder", { "x-session-id": "default" }, {}],
    ["a header's own name", { "x-opencode-session": "x-opencode-session" }, {}],
    ["nothing", { "x-session-id": "  " }, {}],
    ["something endless", { "x-session-id": "1".repeat(300) }, {}],
    ["control characters", { "x-session-id": "abc\u0000def" }, {}],
  ])("the session id is not taken from %s", (_, headers, fields) => {
    expect(idOf(headers, fields)).toBeUndefined();
  });

  test("a session id comes with the id of the sub-agent that asks", () => {
    const claude = { "x-claude-code-session-id": SESSION, "x-claude-code-agent-id": "a1" };
    expect(findExplicitId({ headers: claude, fields: {} })).toMatchObject({ id: SESSION, agent: "a1" });
    const codex = {
      "session-id": SESSION,
      "thread-id": "child",
      "x-codex-parent-thread-id": SESSION,
      "x-openai-subagent": "collab_spawn",
    };
    expect(findExplicitId({ headers: codex, fields: {} })).toMatchObject({ id: SESSION, agent: "child" });
    const compact = { "session-id": SESSION, "x-openai-subagent": "compact" };
    const found = findExplicitId({ headers: compact, fields: {} });
    expect(found).toMatchObject({ id: SESSION, purpose: "compact" });
    expect(found?.agent).toBeUndefined();
  });

  proofTest("a session id is bounded and printable, whatever is sent", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), fc.jsonValue(), (value, anything) => {
        const found = findExplicitId({
          headers: { "x-session-id": value, session_id: [value] },
          fields: { metadata: anything, conversation: anything, prompt_cache_key: anything },
        });
        if (!found) return;
        expect(found.id.length).toBeLessThanOrEqual(256);
        expect(found.id).not.toMatch(/\p{C}/u);
      }),
    );
  });
});

describe("the client", () => {
  test.each([
    ["claude-cli/2.1.325 (external, sdk-cli)", "claude-code"],
    ["codex_cli_rs/0.144.0 (Linux)", "codex"],
    ["opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14", "opencode"],
    ["opencode-kilo-provider", "kilo-code"],
    ["Cline/3.2", "cline"],
    ["RooCode/3.43.0", "roo-code"],
    ["kimi-code-cli/0.39.1", "kimi-code"],
    ["curl/8.0", undefined],
  ])("the user agent %s means the client %s", (agent, client) => {
    expect(detectClient({ "user-agent": agent })).toBe(client);
  });

  test("a client with the user agent of a library is recognized by its system prompt", () => {
    const lead = "You are an expert coding assistant operating inside pi, a coding agent harness.";
    expect(detectClient({ "user-agent": "OpenAI/JS 6.26.0" })).toBeUndefined();
    expect(findNamedClient(lead)).toBe("pi");
    expect(findNamedClient("You are a helpful assistant.")).toBeUndefined();
  });
});
