import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Entry, Session } from "../../../src/kernel/index.ts";
import { diskKernel, say, testKernel, textOf } from "../../support/kernel.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";

const words = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `${from + index}`);

async function read(session: Session, options?: Parameters<Session["entries"]>[0]): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of session.entries(options)) found.push(textOf(entry));
  return found;
}

describe("the entries of a line", () => {
  test("the entries of a line are returned oldest or newest first, however many there are", async () => {
    const { kernel } = await diskKernel();
    const session = await kernel.session();
    await session.appendAll(words(1, 1_500).map((text) => ({ role: "user" as const, text })));
    expect(await read(session)).toEqual(words(1, 1_500));
    expect(await read(session, { direction: "older" })).toEqual(words(1, 1_500).reverse());
  });

  test("the entries of a line begin and end at the named entries, in either direction", async () => {
    const kernel = await testKernel();
    const session = await kernel.session("s");
    await say(session, ...words(1, 20));
    expect(await read(session, { from: 5, to: "s#8" })).toEqual(words(5, 8));
    expect(await read(session, { direction: "older", from: 8, to: 5 })).toEqual(words(5, 8).reverse());
    expect(await read(session, { from: 18 })).toEqual(words(18, 20));
    expect(await read(session, { direction: "older", from: 3 })).toEqual(words(1, 3).reverse());
    expect(await read(session, { from: 8, to: 5 })).toEqual([]);
  });

  test("the entries of a line leave out rewound entries, and those of a fork begin in its parent", async () => {
    const kernel = await testKernel();
    const session = await kernel.session("s");
    await say(session, ...words(1, 6));
    await session.rewind(2);
    await say(session, "3'");
    expect(await read(session, { kinds: ["message"] })).toEqual(["1", "2", "3'"]);
    const fork = await session.fork({ at: 2 });
    await say(fork, "f");
    expect(await read(fork, { kinds: ["message"] })).toEqual(["1", "2", "f"]);
    expect(await read(fork, { kinds: ["message"], from: "s#2" })).toEqual(["2", "f"]);
    await expect(read(session, { from: 4 })).rejects.toMatchObject({ code: "NOT_ON_LINE" });
    await expect(read(session, { to: 99 })).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  });

  test("the entries of a line are those at the start of the walk, even after a rewind", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await say(session, ...words(1, 120));
    const found: string[] = [];
    for await (const entry of session.entries()) {
      if (found.length === 0) {
        await session.rewind(3);
        await say(session, "later");
      }
      found.push(textOf(entry));
    }
    expect(found).toEqual(words(1, 120));
  });

  test("the walk over the entries of a line ends at the signal", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await say(session, ...words(1, 10));
    const stop = new AbortController();
    const found: Entry[] = [];
    const walk = async () => {
      for await (const entry of session.entries({ signal: stop.signal })) {
        found.push(entry);
        if (found.length === 4) stop.abort();
      }
    };
    await expect(walk()).rejects.toMatchObject({ code: "ABORTED" });
    expect(found.length).toBe(4);
  });

  test("wrong options for the entries of a line are refused by name", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    expect(() => session.entries({ form: 3 } as never)).toThrow("did you mean from?");
    await expect(read(session, { direction: "up" as never })).rejects.toThrow('"newer" or "older"');
    await expect(read(session, { kinds: ["mesage" as never] })).rejects.toMatchObject({
      code: "ARGUMENT_INVALID",
    });
  });
});

const step = fc.record({
  kind: fc.constantFrom("say", "say", "rewind", "remove", "replace"),
  pick: fc.nat(),
});

sizedTest("entries() returns the same as a slice of the line, through any changes of the line", async () => {
  const { kernel } = await diskKernel();
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 30 }),
      fc.nat(),
      fc.nat(),
      fc.boolean(),
      async (steps, one, other, isOlder) => {
        await using session = await kernel.session();
        let line: { seq: number; text: string }[] = [];
        for (const [index, { kind, pick }] of steps.entries()) {
          const text = `m${index}`;
          const at = pick % Math.max(1, line.length);
          const picked = line[at];
          if (kind === "say" || !picked) line.push({ seq: (await say(session, text))[0]?.seq ?? 0, text });
          else if (kind === "rewind") {
            await session.rewind(picked.seq);
            line = line.slice(0, at + 1);
          } else if (kind === "remove") {
            await session.remove(picked.seq);
            line = line.toSpliced(at, 1);
          } else {
            const { seq } = await session.replace(picked.seq, { role: "user", text });
            line = line.with(at, { seq, text });
          }
        }
        const places = [one, other].map((pick) => pick % Math.max(1, line.length)).sort((a, b) => a - b);
        const part = line.slice(places[0], (places[1] ?? 0) + 1);
        const ends = [part[0]?.seq, part.at(-1)?.seq];
        const [from, to] = isOlder ? ends.toReversed() : ends;
        const walked = await read(session, {
          kinds: ["message"],
          direction: isOlder ? "older" : "newer",
          ...(from !== undefined && { from }),
          ...(to !== undefined && { to }),
        });
        const expected = part.map(({ text }) => text);
        expect(isOlder ? walked.toReversed() : walked).toEqual(expected);
      },
    ),
    { numRuns: proofRounds(300) },
  );
});
