import { expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import type { AppendRequest } from "../../src/log/store/entry-store.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { testFolder } from "../support/folder.ts";
import { say, testKernel, textOf, texts } from "../support/kernel.ts";

test("an edit with an image succeeds while others append in between, and stores the image once", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  const append = store.entries.append.bind(store.entries);
  let intruders = 3;
  // A concurrent writer wins three times.
  store.entries.append = async (requests: readonly AppendRequest[]) => {
    if (intruders > 0 && requests.some(({ expectedHead }) => expectedHead !== undefined)) {
      intruders--;
      const [entry] = requests.flatMap(({ entries }) => entries).filter(({ kind }) => kind === "message");
      if (entry)
        await append([
          {
            session: "s",
            entries: [
              {
                kind: "message",
                at: 1,
                payload: (await store.entries.get("s", 1))?.payload ?? entry.payload,
              },
            ],
          },
        ]);
    }
    return append(requests);
  };
  const kernel = await testKernel({ store });
  const session = await kernel.session("s");
  await say(session, "1", "2");
  const image = Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    Buffer.alloc(500),
  ]);
  await session.edit(2, { role: "user", parts: [{ type: "data", data: image }] });
  expect(intruders).toBe(0);
  expect(texts(await session.page())).toEqual(["1", "[blob]"]);
  const { entries } = await session.page({ limit: 1 });
  const part = entries[0]?.kind === "message" ? entries[0].message.parts[0] : undefined;
  expect(part?.type === "blob" && (await kernel.blobs.bytes(part.digest)).byteLength).toBe(508);
  await expect(
    session.edit(99, { role: "user", parts: [{ type: "data", data: Buffer.from("%PDF-other") }] }),
  ).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  expect((await kernel.size()).blobBytes).toBe(508);
});

test("overlapping, missing and malformed ranges cannot become the active line", async () => {
  const kernel = await testKernel();
  const session = await kernel.session("s");
  await say(session, "1", "2", "3");
  const range = (from: unknown, to: unknown, own: unknown = "s") => ({ session: own, from, to });
  for (const ranges of [
    undefined,
    [null],
    [range(0, 2)],
    [range(2, 1)],
    [range(1, 99)],
    [range(1, 2), range(2, 3)],
    [range(1, 2.5)],
    [range(1, 2, 5)],
  ])
    await expect(session.setLine(ranges as never, "test")).rejects.toMatchObject({
      code: "ARGUMENT_INVALID",
    });
  await say(session, "4");
  expect(texts(await session.page())).toEqual(["1", "2", "3", "4"]);
  expect(await session.lines()).toHaveLength(1);
});

test("many removals store only what each one removes, and the active line is the same after a restart", async () => {
  const path = testFolder();
  const kernel = await openKernel({ path });
  const session = await kernel.session("s");
  const numbers = Array.from({ length: 2_000 }, (_, index) => String(index + 1));
  await session.appendAll(numbers.map((text) => ({ role: "user", text })));
  const left = new Set(numbers);
  let previous = 0;
  for (let seq = 2; seq <= 1_600; seq += 4) {
    previous = (await session.remove(seq)).previous;
    left.delete(String(seq));
  }
  await session.replace(1_601, { role: "user", text: "1601" });
  await session.rewind(1_900);
  const expected = [...left].slice(0, [...left].indexOf("1900") + 1);
  const lines = await session.read({ limit: 1_000, from: 2_001, kinds: ["line"] });
  expect(lines).toHaveLength(402);
  expect(JSON.stringify(lines).length / lines.length).toBeLessThan(1_000);
  const steps = await session.lines();
  await kernel.close();
  await using again = await openKernel({ path });
  const reopened = await again.session("s");
  const readTexts = async () => {
    const found: string[] = [];
    for await (const entry of reopened.entries({ kinds: ["message"] })) found.push(textOf(entry));
    return found;
  };
  expect(await readTexts()).toEqual(expected);
  expect(await reopened.lines()).toEqual(steps);
  await reopened.choose(previous);
  expect(await readTexts()).toHaveLength(2_000 - 399);
});
