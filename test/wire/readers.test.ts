import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ReplyReader } from "../../src/wire/wire.ts";
import { WIRES } from "../../src/wire/wires.ts";
import { proofRounds, sizedTest } from "../support/proof.ts";
import type { Reply } from "../support/wire-server/behaviour.ts";
import { readerOf, SPEAKERS, spoken, spokenWhole } from "./spoken.ts";

const REPLY: Reply = {
  reasoning: "I look for the file first.",
  text: "Reading both files.",
  toolCalls: [
    { id: "call_1", name: "read", input: { path: "a.ts", lines: [1, 2] } },
    { id: "call_2", name: "read", input: { path: "b.ts" } },
  ],
  usage: { input: 900, output: 40, cacheRead: 300, cacheWrite: 100 },
};

const callsOf = (reader: ReplyReader) =>
  reader.message()?.parts?.filter(({ type }) => type === "tool-call") ?? [];
const textOf = (reader: ReplyReader) =>
  reader
    .message()
    ?.parts?.flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("") ?? "";

describe.each(WIRES.map((api) => [api.name, api] as const))("a reader of %s", (name, api) => {
  const events = spoken(name, REPLY);

  test("a reader gives the same message for a streamed and a whole reply", () => {
    const streamed = readerOf(name, events);
    const whole = api.createReader();
    whole.takeWhole(spokenWhole(name, REPLY));
    for (const reader of [streamed, whole]) {
      expect(reader.isComplete).toBe(true);
      expect(reader.hasBegun).toBe(true);
      expect(reader.failure).toBeUndefined();
      expect(reader.model).toBe("some-model");
      // Google does not tell written tokens from others.
      const counts = name === "google" ? { inputTokens: 1_000 } : { inputTokens: 900, cacheWriteTokens: 100 };
      expect(reader.usage).toMatchObject({ ...counts, outputTokens: 40, cacheReadTokens: 300 });
      expect(textOf(reader)).toBe("Reading both files.");
      expect(callsOf(reader)).toEqual(
        REPLY.toolCalls?.map(({ id, name: tool, input }) => ({
          type: "tool-call",
          callId: id,
          name: tool,
          input,
        })),
      );
      expect(reader.message()?.parts?.[0]).toMatchObject({ type: "reasoning", text: REPLY.reasoning });
    }
    expect(streamed.message()).toEqual(whole.message());
  });

  test("a reader never shows a partial call or an early end, wherever the stream is cut between events", () => {
    const isWholeFrom = events.findIndex((_, index) => readerOf(name, events.slice(0, index + 1)).isComplete);
    expect(isWholeFrom).toBeGreaterThan(events.length - 5);
    for (let end = 0; end < events.length; end++) {
      const reader = readerOf(name, events.slice(0, end));
      expect(reader.isComplete).toBe(end > isWholeFrom);
      expect(REPLY.text?.startsWith(textOf(reader))).toBe(true);
      for (const [index, call] of callsOf(reader).entries())
        expect(call).toMatchObject({ input: REPLY.toolCalls?.[index]?.input });
      if (reader.message()) expect(reader.hasBegun).toBe(true);
    }
  });

  test("a reader ignores an event that was cut at any byte", () => {
    for (const [index, { data, ...rest }] of events.entries()) {
      const before = readerOf(name, events.slice(0, index));
      const [message, isComplete] = [before.message(), before.isComplete];
      for (let end = 0; end < data.length; end++) before.take({ ...rest, data: data.slice(0, end) });
      expect(before.message()).toEqual(message);
      expect(before.isComplete).toBe(isComplete);
      expect(before.failure).toBeUndefined();
    }
  });

  test("a reader reports an error inside a stream, and then sees no end", () => {
    const { event, data } = SPEAKERS[name].errorEvent("overloaded");
    const reader = readerOf(name, events.slice(0, 4));
    const message = reader.message();
    reader.take({ ...(event !== undefined && { event }), data: JSON.stringify(data) });
    expect(reader.failure?.message?.toLowerCase()).toContain("overloaded");
    expect(reader.message()).toEqual(message);
    expect(reader.isComplete).toBe(false);
    const whole = api.createReader();
    whole.takeWhole(JSON.stringify(SPEAKERS[name].error("rate-limit").body));
    expect(whole.failure?.message).toContain("ate limit");
    expect(whole.isComplete).toBe(false);
    expect(whole.message()).toBeUndefined();
  });

  test("a reader leaves out a call that was cut by the limit of the reply", () => {
    const cut: Reply = { text: "Writing.", finish: "length", usage: { input: 5, output: 5 } };
    const reader = readerOf(name, spoken(name, cut));
    expect(reader.isComplete).toBe(true);
    expect(reader.stopReason).toBeTruthy();
    expect(textOf(reader)).toBe("Writing.");
  });

  sizedTest("a reader survives any events", () => {
    const strange = fc.oneof(
      fc.string().map((data) => ({ data })),
      fc.json({ maxDepth: 3 }).map((data) => ({ data })),
      fc.constantFrom(...events),
      fc
        .tuple(
          fc.constantFrom(...events),
          fc.constantFrom(
            "index",
            "delta",
            "choices",
            "item",
            "response",
            "message",
            "output_index",
            "usage",
          ),
          fc.jsonValue({ maxDepth: 2 }),
        )
        .map(([{ data }, field, value]) => {
          const object = data.startsWith("{") ? JSON.parse(data) : {};
          return { data: JSON.stringify({ ...object, [field]: value }) };
        }),
    );
    fc.assert(
      fc.property(fc.array(strange, { maxLength: 20 }), fc.string(), (all, body) => {
        const reader = readerOf(name, all);
        reader.takeWhole(body);
        const { usage, failure, stopReason, responseId, model, isComplete, hasBegun } = reader;
        const facts = { usage, failure, stopReason, responseId, model, isComplete, hasBegun };
        expect(() => JSON.stringify([reader.message(), facts])).not.toThrow();
      }),
      { numRuns: proofRounds(300) },
    );
  });
});
