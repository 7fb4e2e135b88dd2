import { describe, expect, test } from "vitest";
import type { MessageInput } from "../../../../src/kernel/index.ts";
import { redactInput } from "../../../../src/server/gateway/thread/redactor.ts";
import { BARE } from "./secrets.ts";

const SECRET = BARE.find(([kind]) => kind === "github-token")?.[1] ?? "";
const GONE = "[redacted:github-token]";

describe("a message", () => {
  test("a message without secrets is returned unchanged", () => {
    const message: MessageInput = { role: "user", text: "hello", meta: { a: [1, null, "b"] } };
    expect(redactInput(message).message).toBe(message);
  });

  test("a message loses the secrets in its texts, calls, results and metadata", () => {
    const { message, found } = redactInput({
      role: "assistant",
      parts: [
        { type: "text", text: `use ${SECRET}` },
        { type: "reasoning", text: `the key is ${SECRET}`, opaque: SECRET },
        {
          type: "tool-call",
          callId: "1",
          name: "run",
          input: { command: ["echo", SECRET], deep: [{ env: `A=${SECRET}` }] },
        },
        { type: "tool-result", callId: "1", output: `A=${SECRET}` },
        {
          type: "tool-result",
          callId: "2",
          output: [
            { type: "text", text: SECRET },
            { type: "data", data: SECRET },
          ],
        },
        { type: "raw", format: "x", value: { said: SECRET, count: 3 } },
        { type: "data", data: new Uint8Array([1]), mime: "image/png" },
      ],
      meta: { note: SECRET },
    });
    expect(message).toEqual({
      role: "assistant",
      parts: [
        { type: "text", text: `use ${GONE}` },
        { type: "reasoning", text: `the key is ${GONE}`, opaque: SECRET },
        {
          type: "tool-call",
          callId: "1",
          name: "run",
          input: { command: ["echo", GONE], deep: [{ env: `A=${GONE}` }] },
        },
        { type: "tool-result", callId: "1", output: `A=${GONE}` },
        {
          type: "tool-result",
          callId: "2",
          output: [
            { type: "text", text: GONE },
            { type: "data", data: SECRET },
          ],
        },
        { type: "raw", format: "x", value: { said: GONE, count: 3 } },
        { type: "data", data: new Uint8Array([1]), mime: "image/png" },
      ],
      meta: { note: GONE },
    });
    expect(found).toHaveLength(8);
  });

  test("a message loses secret values that only a field's name reveals", () => {
    const { message } = redactInput({
      role: "assistant",
      parts: [
        {
          type: "tool-call",
          callId: "1",
          name: "connect",
          input: {
            user: "app",
            password: "tr0ub4dor&3",
            api_key: "a7Kx2Qm9Zt4Rb8Wc1Yf5",
            max_tokens: 5,
            path: "/a/b",
          },
        },
      ],
    });
    expect(message.parts?.[0]).toMatchObject({
      input: {
        user: "app",
        password: "[redacted:password]",
        api_key: "[redacted:api-key]",
        max_tokens: 5,
        path: "/a/b",
      },
    });
    expect(redactInput(message).message).toBe(message);
  });
});
