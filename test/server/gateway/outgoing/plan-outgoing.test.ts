import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Conversation, type PlacedMessage } from "../../../../src/kernel/calls/conversation.ts";
import type { Policy, Slot } from "../../../../src/kernel/faces/window.ts";
import type { Message, MessageInput } from "../../../../src/kernel/index.ts";
import {
  addMessageKey,
  buildCanonicalKey,
  getMessageKey,
} from "../../../../src/server/gateway/identity/canonical-key.ts";
import {
  type IndexedMessage,
  planOutgoing,
} from "../../../../src/server/gateway/outgoing/outgoing-pieces.ts";
import { testKernel } from "../../../support/kernel.ts";

function givenOf(words: readonly string[]): readonly IndexedMessage[] {
  return words.map((text, index) => {
    const role = index % 2 === 0 ? "user" : "assistant";
    const input: MessageInput = { role, text };
    return {
      input: () => addMessageKey(input, buildCanonicalKey(input)),
      index,
      key: buildCanonicalKey(input),
    };
  });
}

/** A session with a client's messages, and its window. */
async function taken(words: readonly string[]) {
  const kernel = await testKernel();
  const session = await kernel.session("s");
  const placed = await new Conversation<IndexedMessage>(session, getMessageKey).takeAllMessages(
    givenOf(words),
  );
  const window = session.window({ model: "claude-sonnet-4-5", policy: "none" });
  return { session, placed, window, id: session.id };
}

describe("the outgoing messages", () => {
  test("unedited messages go out as the client sent them", async () => {
    const { placed, window, id } = await taken(["a", "b", "c"]);
    expect(planOutgoing({ ...(await window.fit()), session: id, placed, keyOf: getMessageKey })).toEqual([
      { type: "same", index: 0 },
      { type: "same", index: 1 },
      { type: "same", index: 2 },
    ]);
  });

  test("an edited message goes out with its original, and a message that left does not go out", async () => {
    const words = Array.from({ length: 9 }, (_, index) =>
      `${index} says something `.repeat(index === 3 ? 100 : 1),
    );
    const { session, placed, id } = await taken(words);
    const cutting: Policy = {
      name: "cutting",
      start: (_limits, tokensOf, course = {}) => ({
        observe: () => undefined,
        fit: () =>
          (course.window ?? []).flatMap((slot): readonly Slot[] => {
            if (slot.seq === 2) return [];
            if (slot.seq !== 4) return [slot];
            const message: Message = { role: "assistant", parts: [{ type: "text", text: "less" }] };
            return [{ ...slot, message, original: slot.message, tokens: tokensOf(message) }];
          }),
      }),
    };
    const fitted = await session.window({ model: "claude-sonnet-4-5", policy: cutting, paging: false }).fit();
    const plan = planOutgoing({ ...fitted, session: id, placed, keyOf: getMessageKey });
    expect(plan.map((one) => (one.type === "note" ? undefined : one.index))).toEqual([
      0, 2, 3, 4, 5, 6, 7, 8,
    ]);
    expect(plan[2]).toMatchObject({
      type: "changed",
      message: { parts: [{ text: "less" }] },
      original: { role: "assistant" },
    });
    expect(plan.filter(({ type }) => type === "same")).toHaveLength(7);
  });

  test("a lasting summary goes out as a note in the place of its messages, and a lasting edit as its result", async () => {
    const { session, placed, window, id } = await taken(["a", "b", "c", "d", "e"]);
    const note: Message = { role: "user", parts: [{ type: "text", text: "b and c, in short" }] };
    const less: Message = { role: "assistant", parts: [{ type: "text", text: "less" }] };
    const ranges = [{ session: id, from: 2, to: 3 }];
    await session.overlays.add({ type: "summarize", ranges, messages: [note] }, "test");
    await session.overlays.add({ type: "replace", target: { seq: 4 }, parts: less.parts }, "test");
    expect(
      planOutgoing({ ...(await window.fit()), session: id, placed, keyOf: getMessageKey }),
    ).toMatchObject([
      { type: "same", index: 0 },
      { type: "note", message: note },
      { type: "changed", index: 3, message: { parts: less.parts }, original: { parts: [{ text: "d" }] } },
      { type: "same", index: 4 },
    ]);
  });

  test("a fork sends the client's own messages for entries of its parent session", async () => {
    const { session, id } = await taken(["a", "b"]);
    const fork = await session.fork();
    const conversation = new Conversation<IndexedMessage>(fork, getMessageKey);
    const placed = await conversation.takeAllMessages(givenOf(["a", "b", "c"]));
    const fitted = await fork.window({ model: "claude-sonnet-4-5" }).fit();
    expect(fork.id).not.toBe(id);
    expect(planOutgoing({ ...fitted, session: fork.id, placed, keyOf: getMessageKey })).toEqual(
      [0, 1, 2].map((index) => ({ type: "same", index })),
    );
  });

  test("a message goes out as changed even if only the input of a call was changed", () => {
    const call = (input: string): Message => ({
      role: "assistant",
      parts: [{ type: "tool-call", callId: "1", name: "write", input }],
    });
    const slot: Slot = { seq: 1, at: 0, tokens: 1, message: call("short"), original: call("long") };
    const given = { index: 0, key: "k", input: () => ({ role: "assistant" as const }) };
    const placed = { byId: new Map([["s#1", { callerMessage: given, partCount: 1 }]]), last: "s#1" };
    const plan = planOutgoing({
      slots: [slot],
      messages: [slot.message],
      session: "s",
      placed,
      keyOf: getMessageKey,
    });
    expect(plan).toEqual([{ type: "changed", index: 0, message: call("short"), original: call("long") }]);
  });

  test("the outgoing messages keep the client's order and contain each message at most once", () => {
    const slots = fc.array(fc.constantFrom("same", "changed", "note", "gone", "foreign"), { maxLength: 20 });
    fc.assert(
      fc.property(slots, (fates) => {
        const message = (text: string): Message => ({ role: "user", parts: [{ type: "text", text }] });
        const byId = new Map<string, PlacedMessage<IndexedMessage>>(
          fates.flatMap((fate, index) => {
            const key = buildCanonicalKey(message(`${index}`));
            const given = { index, key, input: () => ({ role: "user" as const }) };
            const placed = { callerMessage: given, partCount: 1 };
            return fate === "foreign" || fate === "note" ? [] : [[`s#${index + 1}`, placed] as const];
          }),
        );
        const window = fates.flatMap((fate, index): readonly Slot[] => {
          const said = message(`${index}`);
          const slot = { seq: index + 1, at: 0, tokens: 1, message: said };
          if (fate === "gone") return [];
          if (fate === "note") return [{ ...slot, isNote: true }];
          return [fate === "changed" ? { ...slot, message: message("less"), original: said } : slot];
        });
        const messages = window.map((slot) => slot.message);
        const plan = planOutgoing({
          slots: window,
          messages,
          session: "s",
          placed: { byId, last: undefined },
          keyOf: getMessageKey,
        });
        const shown = fates.filter((fate) => fate !== "gone");
        expect(plan.map(({ type }) => type)).toEqual(
          shown.map((fate) => (fate === "foreign" ? "note" : fate)),
        );
        const indexes = plan.flatMap((one) => (one.type === "note" ? [] : [one.index]));
        expect(indexes.every((index, at) => at === 0 || index > (indexes[at - 1] ?? 0))).toBe(true);
      }),
    );
  });
});
