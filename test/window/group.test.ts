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

test("a call that was never answered does not hold all that follows together", () => {
  expect(groups(calls("lost"), calls("a"), answers("a"), calls("b"), answers("b"))).toEqual([
    [0, 2],
    [3, 4],
  ]);
});

test("an id that is used again belongs to the call before it", () => {
  expect(groups(calls("a"), answers("a"), calls("a"), answers("a"))).toEqual([
    [0, 1],
    [2, 3],
  ]);
});
