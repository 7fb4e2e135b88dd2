import { describe, expect, test } from "vitest";
import { mergeRoles } from "../../../src/kernel/calls/merge-roles.ts";

const text = (words: string) => ({ type: "text", text: words });
const user = (content: unknown, extra: object = {}) => ({ role: "user", content, ...extra });
const assistant = (content: unknown, extra: object = {}) => ({ role: "assistant", content, ...extra });

describe("merging two messages of one role", () => {
  test("merging two messages joins plain texts with a blank line, and blocks one after the other", () => {
    expect(mergeRoles("openai-chat", user("a"), user("b"))).toEqual(user("a\n\nb"));
    expect(mergeRoles("openai-chat", user("a"), user([text("b")]))).toEqual(user([text("a"), text("b")]));
    expect(mergeRoles("anthropic", user([text("a")]), user("b"))).toEqual(user([text("a"), text("b")]));
  });

  test("merging two messages of Chat Completions keeps calls and plain reasoning", () => {
    const tool_calls = [{ id: "1", type: "function", function: { name: "n", arguments: "{}" } }];
    const last = assistant(null, { tool_calls, reasoning_content: "why", refusal: null });
    expect(mergeRoles("openai-chat", assistant("a"), last)).toEqual({ ...last, content: "a" });
    expect(mergeRoles("openai-chat", assistant("a", { reasoning_content: "x" }), last)).toMatchObject({
      reasoning_content: "x\n\nwhy",
    });
  });

  test("merging two messages of Responses writes texts as their role requires, and keeps the first item's id", () => {
    const item = (id: string, role: string, content: unknown) => ({ type: "message", id, role, content });
    expect(
      mergeRoles("openai-responses", item("m1", "assistant", "a"), item("m2", "assistant", [text("b")])),
    ).toEqual(item("m1", "assistant", [{ type: "output_text", text: "a" }, text("b")]));
    expect(mergeRoles("openai-responses", item("m1", "user", [text("a")]), user("b"))).toEqual(
      item("m1", "user", [text("a"), { type: "input_text", text: "b" }]),
    );
  });

  test("merging two messages of the AI SDK moves options of a message to its part", () => {
    const providerOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };
    expect(mergeRoles("ai-sdk", user("a", { providerOptions }), user([text("b")]))).toEqual(
      user([{ ...text("a"), providerOptions }, text("b")]),
    );
    expect(mergeRoles("ai-sdk", user("a"), user("b", { providerOptions }))).toEqual(
      user("a\n\nb", { providerOptions }),
    );
  });

  test.each([
    [
      "thoughts",
      "anthropic",
      assistant("a"),
      assistant([{ type: "thinking", thinking: "t", signature: "s" }]),
    ],
    ["reasoning", "ai-sdk", assistant([{ type: "reasoning", text: "t" }]), assistant("a")],
    ["signed reasoning", "openai-chat", assistant("a"), assistant("b", { reasoning_details: [{}] })],
    [
      "a call that waits for its result",
      "anthropic",
      assistant([{ type: "tool_use", id: "1" }]),
      assistant("a"),
    ],
    ["two names", "openai-chat", user("a", { name: "ann" }), user("b", { name: "bob" })],
    [
      "two phases",
      "openai-responses",
      assistant("a", { phase: "commentary" }),
      assistant("b", { phase: "final" }),
    ],
    ["results", "openai-chat", { role: "tool", content: "a" }, { role: "tool", content: "b" }],
    ["items", "openai-responses", { type: "reasoning", role: "user" }, user("a")],
  ] as const)("two messages with %s are not merged", (_, format, first, second) => {
    expect(mergeRoles(format, first, second)).toBeUndefined();
  });
});
