import { describe, expect, test } from "vitest";
import {
  buildErrorResults,
  findCallsToRun,
  findPendingCalls,
} from "../../../../src/adapters/ai/agent/pending-calls.ts";
import type { Message, ToolCallPart, ToolResultPart } from "../../../../src/kernel/index.ts";

const call = (callId: string): ToolCallPart => ({ type: "tool-call", callId, name: "read", input: {} });
const result = (callId: string): ToolResultPart => ({ type: "tool-result", callId, output: [] });
const said = (role: Message["role"], ...parts: Message["parts"]): Message => ({ role, parts });

describe("pending calls", () => {
  test("only the last reply can have pending calls, whatever follows it", () => {
    const line = [
      said("assistant", call("old")),
      said("assistant", call("a"), call("b")),
      said("tool", result("a")),
      said("user", { type: "text", text: "Well?" }),
    ];
    expect(findPendingCalls(line)).toEqual([{ callId: "b", name: "read" }]);
    expect(findPendingCalls([...line, said("assistant", { type: "text", text: "Fine." })])).toEqual([]);
    expect(findPendingCalls([])).toEqual([]);
  });

  test("a call that was moved to a blob for its size still counts as pending", () => {
    const blob = { type: "blob", of: "tool-call", callId: "big", toolName: "write", digest: "d", mime: "x" };
    const part = { ...blob, sizeBytes: 1 } as Message["parts"][number];
    expect(findPendingCalls([said("assistant", part)])).toEqual([{ callId: "big", name: "write" }]);
  });

  test("a call that the provider has carried out itself is not run again", () => {
    expect(findCallsToRun(said("assistant", call("web"), result("web"), call("own")))).toEqual([
      { callId: "own", name: "read" },
    ]);
  });

  test("a pending call gets an error result that says it may have been carried out", () => {
    expect(buildErrorResults([{ callId: "a", name: "read" }], "interrupted")).toMatchObject({
      role: "tool",
      parts: [{ callId: "a", isError: true, output: expect.stringContaining("may have been carried out") }],
    });
  });
});
