import fc from "fast-check";
import { expect, test } from "vitest";
import { type MessageInput, openKernel } from "../../../src/kernel/index.ts";

const MODEL = { model: "claude-sonnet-4-5", models: { "claude-*": { window: 20_000 } }, system: 300 };
const PLAIN = { noNullPrototype: true } as const;
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.constantFrom("a lone \ud800 surrogate", "  const value = 1;\n".repeat(400), "漢字かな", ""),
);
const call = fc.record(
  {
    type: fc.constant("tool-call"),
    callId: fc.constantFrom("one", "two"),
    name: fc.constantFrom("read", "bash"),
    input: fc.dictionary(fc.constantFrom("path", "line", "2"), fc.jsonValue({ maxDepth: 2 }), PLAIN),
  },
  PLAIN,
);
const reasoning = fc.record(
  { type: fc.constant("reasoning"), text, opaque: fc.json({ maxDepth: 1 }) },
  PLAIN,
);
const result = fc.record(
  { type: fc.constant("tool-result"), callId: fc.constantFrom("one", "two"), output: text },
  PLAIN,
);
const message = fc.oneof(
  fc.record({ role: fc.constantFrom("user", "system"), text }, PLAIN),
  fc.record({ role: fc.constant("assistant"), parts: fc.tuple(reasoning, call) }, PLAIN),
  fc.record({ role: fc.constant("tool"), parts: fc.tuple(result) }, PLAIN),
) as fc.Arbitrary<MessageInput>;

test("messages passed to the window when they are stored give the same window as messages read from the log", async () => {
  await using kernel = await openKernel({ path: ":memory:", embedder: null });
  const batches = fc.array(fc.array(message, { maxLength: 6 }), { minLength: 1, maxLength: 4 });
  const history = fc.record({ batches, hasNotes: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(history, async (given) => {
      await using session = await kernel.session();
      await using reader = await kernel.session(session.id);
      const taking = session.window(MODEL);
      for (const batch of given.batches) {
        const written = await session.appendAll(batch);
        if (given.hasNotes) await session.note("something else was written");
        taking.takeWritten(written);
        const taken = await taking.look();
        const read = await reader.window(MODEL).look();
        expect(JSON.stringify(taken)).toBe(JSON.stringify(read));
        expect(taken.messages).toStrictEqual(read.messages);
      }
    }),
    { numRuns: 15 },
  );
});

test("a reply passed to the window with its usage gives the same window as one read from the log", async () => {
  await using kernel = await openKernel({ path: ":memory:", embedder: null });
  const turns = fc.array(fc.record({ asked: message, replied: text, inputTokens: fc.nat(20_000) }), {
    minLength: 1,
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(turns, async (given) => {
      await using session = await kernel.session();
      await using reader = await kernel.session(session.id);
      const taking = session.window(MODEL);
      for (const { asked, replied, inputTokens } of given) {
        taking.takeWritten([await session.append(asked)]);
        const taken = await taking.fit();
        const read = await reader.window(MODEL).look();
        expect(taken.messages).toStrictEqual(read.messages);
        expect([taken.tokens, taken.roomTokens, taken.cache]).toEqual([
          read.tokens,
          read.roomTokens,
          read.cache,
        ]);
        const usage = { kind: "usage", ...taking.buildReport({ inputTokens, outputTokens: 9 }) } as const;
        taking.takeWritten(await session.appendReply({ role: "assistant", text: replied }, usage));
      }
    }),
    { numRuns: 15 },
  );
});

test("messages that do not continue the known line are read from the log", async () => {
  await using kernel = await openKernel({ path: ":memory:", embedder: null });
  await using session = await kernel.session();
  const first = await session.append({ role: "user", text: "first" });
  await session.append({ role: "assistant", text: "second" });
  const third = await session.append({ role: "user", text: "third" });
  const shown = async (entries: readonly (typeof first)[]) => {
    const window = session.window(MODEL);
    window.takeWritten(entries);
    return (await window.look()).messages.map(({ parts }) => (parts[0] as { text: string }).text);
  };
  expect(await shown([first, third])).toEqual(["first", "second", "third"]);
  expect(await shown([third])).toEqual(["first", "second", "third"]);
  expect(await shown([first])).toEqual(["first", "second", "third"]);
});

test("redacted content does not return from a cache in memory", async () => {
  await using kernel = await openKernel({ path: ":memory:", embedder: null });
  await using session = await kernel.session();
  const window = session.window(MODEL);
  const written = await session.appendAll([{ role: "user", text: "the password is swordfish" }]);
  window.takeWritten(written);
  await session.redact(written[0]?.id as string);
  expect(JSON.stringify((await window.look()).messages)).not.toContain("swordfish");
  const usage = { kind: "usage", ...window.buildReport({ inputTokens: 9, outputTokens: 9 }) } as const;
  const reply = await session.appendReply({ role: "assistant", text: "So it is swordfish." }, usage);
  window.takeWritten(reply);
  await session.redact(reply[0].id);
  expect(JSON.stringify((await window.look()).messages)).not.toContain("swordfish");
});
