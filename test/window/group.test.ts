import { expect, test } from "vitest";
import type { Message, Role } from "../../src/model/message.ts";
import { groupSlots } from "../../src/window/group.ts";

const calls = (...ids: string[]): Message => ({
  role: "assistant",
  parts: ids.map((callId) => ({ type: "tool-call", callId, name: "read", input: {} })),
});
const answers = (...ids: string[]): Message => ({
  role: "tool",
  parts: ids.map((callId) => ({ type: "tool-result", callId, output: [] })),
});
const says = (role: Role): Message => ({ role, parts: [{ type: "text", text: "words" }] });
const groups = (...messages: readonly Message[]) =>
  groupSlots(messages.map((message, index) => ({ seq: index + 1, at: 0, message, tokens: 1 }))).map(
    ({ from, to }) => [from, to],
  );

test("a call and its results are one group", () => {
  expect(groups(says("user"), calls("a", "b"), answers("a"), answers("b"), says("assistant"))).toEqual([
    [0, 0],
    [1, 3],
    [4, 4],
  ]);
});

test("parallel calls of one reply and their results are one group", () => {
  expect(groups(calls("a"), calls("b"), answers("a"), answers("b"), says("user"))).toEqual([
    [0, 3],
    [4, 4],
  ]);
});

test("a call that was never answered does not tie all later messages together", () => {
  expect(groups(calls("lost"), calls("a"), answers("a"), calls("b"), answers("b"))).toEqual([
    [0, 2],
    [3, 4],
  ]);
});

test("a result with a reused id belongs to the latest call before it", () => {
  expect(groups(calls("a"), answers("a"), calls("a"), answers("a"))).toEqual([
    [0, 1],
    [2, 3],
  ]);
});

const raw = (role: Role, ...values: readonly object[]): Message => ({
  role,
  parts: values.map((value) => ({ type: "raw", format: "anthropic", value: value as never })),
});
const serverCall = { type: "server_tool_use", id: "srv", name: "code_execution", input: {} };
const serverResult = { type: "code_execution_tool_result", tool_use_id: "srv", content: {} };

test("a group with a provider's own tool reaches from the call to its result, across other calls and results", () => {
  const first = calls("a");
  const both = { ...first, parts: [...raw("assistant", serverCall).parts, ...first.parts] };
  expect(
    groups(
      says("user"),
      both,
      answers("a"),
      calls("b"),
      answers("b"),
      raw("assistant", serverResult),
      says("user"),
    ),
  ).toEqual([
    [0, 0],
    [1, 5],
    [6, 6],
  ]);
});

test("a provider's own tool that is answered in the same message ties no other message to it", () => {
  expect(groups(raw("assistant", serverCall, serverResult), calls("a"), answers("a"))).toEqual([
    [0, 0],
    [1, 2],
  ]);
});
