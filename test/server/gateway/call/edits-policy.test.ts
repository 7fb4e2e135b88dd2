import { describe, expect, test } from "vitest";
import { longhaul, type Slot } from "../../../../src/kernel/faces/window.ts";
import type { MessageInput } from "../../../../src/kernel/index.ts";
import { buildEditsPolicy } from "../../../../src/server/gateway/call/build-call-request.ts";
import { findAppliedEdits, withAppliedEdits } from "../../../../src/server/gateway/reply/applied-edits.ts";
import type { ContextEdit } from "../../../../src/server/gateway/request/request-fields.ts";
import { testKernel } from "../../../support/kernel.ts";
import { proofTest } from "../../../support/proof.ts";

const CLEAR: ContextEdit = {
  type: "clear_tool_uses_20250919",
  trigger: { calls: 3 },
  keep: 2,
  excludeTools: [],
  clearInputs: false,
};
const THINK: ContextEdit = { type: "clear_thinking_20251015", keep: 1 };
const COMPACT: ContextEdit = { type: "compact_20260112", triggerTokens: 50_000, pausesAfter: false };

/** The user asks, and the assistant thinks and reads `reads` times before it answers. */
function turn(name: string, reads: number, words = 200): readonly MessageInput[] {
  const steps = Array.from({ length: reads }, (_, step): readonly MessageInput[] => {
    const callId = `${name}-${step}`;
    return [
      {
        role: "assistant",
        parts: [
          { type: "reasoning", text: `about ${callId}`, opaque: `signed ${callId}` },
          { type: "tool-call", callId, name: "read", input: { path: `src/${callId}.ts` } },
        ],
      },
      {
        role: "tool",
        parts: [{ type: "tool-result", callId, name: "read", output: `line of ${callId}\n`.repeat(words) }],
      },
    ];
  });
  return [
    { role: "user", text: `Do ${name}.` },
    ...steps.flat(),
    { role: "assistant", text: `Did ${name}.` },
  ];
}

describe("a window with the client's edits", () => {
  test("the client's edits apply from the first request on, stay in later requests, and are reported", async () => {
    const kernel = await testKernel();
    const session = await kernel.session("s");
    const edits = [THINK, CLEAR];
    const policy = buildEditsPolicy(edits, longhaul(), { api: "anthropic" });
    await session.appendAll([...turn("a", 4), ...turn("b", 2), { role: "user", text: "And now?" }]);
    const first = await session.window({ model: "claude-sonnet-4-5", policy }).fit();
    expect(findAppliedEdits(edits, first.slots)).toMatchObject([
      { type: "clear_thinking_20251015", cleared_thinking_turns: 1 },
      { type: "clear_tool_uses_20250919", cleared_tool_uses: 4 },
    ]);
    await session.append({ role: "assistant", text: "Nothing." });
    await session.append({ role: "user", text: "Good." });
    const second = await session.window({ model: "claude-sonnet-4-5", policy }).fit();
    expect(second.messages.slice(0, first.messages.length)).toEqual(first.messages);
    expect(findAppliedEdits(edits, second.slots)).toEqual(findAppliedEdits(edits, first.slots));
  });

  proofTest("a compaction edit summarizes old messages once the client's trigger is reached", async () => {
    const kernel = await testKernel();
    const session = await kernel.session("s");
    const policy = buildEditsPolicy([COMPACT], longhaul(), {
      api: "openai-chat",
      windowTokens: 200_000,
    });
    const window = session.window({ model: "claude-sonnet-4-5", policy });
    await session.appendAll([...turn("a", 4, 1_500), { role: "user", text: "And now?" }]);
    expect(findAppliedEdits([COMPACT], (await window.fit()).slots)).toEqual([]);
    await session.appendAll([...turn("b", 6, 1_500), { role: "user", text: "Go on." }]);
    const { slots, tokens } = await window.fit();
    expect(findAppliedEdits([COMPACT], slots)).toEqual([{ type: "compact_20260112" }]);
    expect(tokens).toBeLessThan(25_000);
    expect(slots.at(-1)?.message.parts).toEqual([{ type: "text", text: "Go on." }]);
  });

  test("edits that change nothing leave the default policy in place", () => {
    const base = longhaul();
    const all: ContextEdit = { type: "clear_thinking_20251015", keep: "all" };
    expect(buildEditsPolicy([], base, { api: "anthropic" })).toBe(base);
    expect(buildEditsPolicy([all], base, { api: "anthropic" })).toBe(base);
    expect(buildEditsPolicy([THINK], base, { api: "openai-responses" })).toBe(base);
    expect(buildEditsPolicy([THINK], base, { api: "openai-chat" })).not.toBe(base);
  });

  test("no edits are reported if none were asked for or none were made", () => {
    const slots: readonly Slot[] = [
      { seq: 1, at: 0, tokens: 1, message: { role: "user", parts: [{ type: "text", text: "a" }] } },
    ];
    expect(findAppliedEdits([], slots)).toEqual([]);
    expect(findAppliedEdits([CLEAR, THINK, COMPACT], slots)).toEqual([]);
  });
});

describe("a reply that reports edits", () => {
  const applied = [
    { type: "clear_tool_uses_20250919", cleared_tool_uses: 8, cleared_input_tokens: 50_000 },
  ] as const;
  const report = { applied_edits: applied };

  test("Anthropic's message and its last message_delta report edits and keep all other bytes", () => {
    const body = '{"type":"message", "content":[{"type":"text","text":"{}"}],"usage":{"input_tokens":1.0}}\n';
    const told = withAppliedEdits("anthropic", body, applied);
    expect(told).toBe(
      '{"type":"message", "content":[{"type":"text","text":"{}"}],"usage":{"input_tokens":1.0},' +
        `"context_management":${JSON.stringify(report)}}\n`,
    );
    const delta = '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}';
    expect(JSON.parse(withAppliedEdits("anthropic", delta, applied) ?? "")).toEqual({
      ...JSON.parse(delta),
      context_management: report,
    });
  });

  test("a reply that already has the field for edits gets it only once", () => {
    const body = '{"type":"message","context_management":null}';
    expect(withAppliedEdits("anthropic", body, [])).toBe(
      '{"type":"message","context_management":{"applied_edits":[]}}',
    );
  });

  test.each([
    '{"type":"message_start","message":{"type":"message","content":[]}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\\"message_delta\\""}}',
    '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    "[DONE]",
    '{"type":"message',
    "",
  ])("an event that cannot report edits stays as it is: %s", (data) => {
    expect(withAppliedEdits("anthropic", data, applied)).toBeUndefined();
  });

  test("the last chunk of a chat and the end of a response report edits", () => {
    const chunk = '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}';
    expect(JSON.parse(withAppliedEdits("openai-chat", chunk, applied) ?? "")).toMatchObject({
      context_management: report,
    });
    const open = '{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}';
    expect(withAppliedEdits("openai-chat", open, applied)).toBeUndefined();
    const end = '{"type":"response.completed","response":{"object":"response","id":"r"}}';
    expect(JSON.parse(withAppliedEdits("openai-responses", end, applied) ?? "")).toMatchObject({
      response: { id: "r", context_management: report },
    });
    const start = '{"type":"response.created","response":{"object":"response","id":"r"}}';
    expect(withAppliedEdits("openai-responses", start, applied)).toBeUndefined();
  });
});
