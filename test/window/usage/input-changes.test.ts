import { describe, expect, test } from "vitest";
import {
  countDroppedThinking,
  countInputChanges,
  readDroppedThinking,
} from "../../../src/window/usage/input-changes.ts";
import { anthropicWire } from "../../../src/wire/anthropic/anthropic-wire.ts";
import { testKernel } from "../../support/kernel.ts";

const dropped = (path: string) => ({ type: "thinking_dropped", path, reason: "prefix_binding_mismatch" });
const event = (value: object) => ({ data: JSON.stringify(value) });

describe("what a provider changed in a request", () => {
  test("a reply that is not a stream names the reasoning that was dropped", () => {
    const reader = anthropicWire.createReader();
    const input_transformations = [dropped("messages.1.content.0"), { type: "later_kind" }, 7, null];
    reader.takeWhole(JSON.stringify({ content: [{ type: "text", text: "ok" }], input_transformations }));
    expect(reader.inputChanges).toEqual([dropped("messages.1.content.0"), { type: "later_kind" }]);
    expect(countDroppedThinking(reader.inputChanges ?? [])).toBe(1);
  });

  test("a stream names it at its start, and again at its end after a fallback to another model", () => {
    const reader = anthropicWire.createReader();
    const first = [dropped("messages.1.content.0")];
    reader.take(event({ type: "message_start", message: { input_transformations: first } }));
    expect(reader.inputChanges).toEqual(first);
    const last = [dropped("messages.1.content.0"), dropped("messages.3.content.0")];
    reader.take(event({ type: "message_delta", delta: {}, input_transformations: last }));
    expect(reader.inputChanges).toEqual(last);
  });

  test("a reply without such a list, or with something else in its place, changes nothing", () => {
    const reader = anthropicWire.createReader();
    reader.takeWhole(
      JSON.stringify({ content: [{ type: "text", text: "ok" }], input_transformations: "no" }),
    );
    expect(reader.inputChanges).toBeUndefined();
  });

  test("the stored form counts blocks by kind and reason, however many there are", () => {
    const many = Array.from({ length: 900 }, (_, index) => dropped(`messages.${index}.content.0`));
    const stored = countInputChanges([...many, { type: "x".repeat(5_000) }]);
    expect(stored).toHaveLength(2);
    expect(stored[0]).toEqual({ ...dropped("messages.0.content.0"), count: 900 });
    expect(JSON.stringify(stored).length).toBeLessThan(500);
    expect(readDroppedThinking({ meta: { inputChanges: JSON.parse(JSON.stringify(stored)) } })).toBe(900);
  });

  test("the usage of a request in the log tells how much reasoning its provider dropped", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await session.append({ role: "user", text: "hello" });
    const window = session.window({ model: "claude-opus-5-5" });
    await window.fit();
    const entry = await window.report(
      { inputTokens: 10 },
      { inputChanges: [dropped("messages.1.content.0")] },
    );
    expect(readDroppedThinking(entry)).toBe(1);
    expect(readDroppedThinking(await window.report({ inputTokens: 10 }))).toBe(0);
  });
});
