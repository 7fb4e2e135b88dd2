import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { openKernel } from "../../../src/kernel/index.ts";
import { openSqliteStore } from "../../../src/stores/sqlite/index.ts";
import { startChild } from "../../support/child.ts";
import { turns } from "../../support/eventually.ts";
import { diskKernel, say, testKernel, textOf } from "../../support/kernel.ts";
import { proofTest } from "../../support/proof.ts";

async function take(tail: AsyncGenerator<Parameters<typeof textOf>[0]>, count: number): Promise<string[]> {
  const taken: string[] = [];
  for await (const entry of tail) {
    taken.push(textOf(entry));
    if (taken.length === count) break;
  }
  return taken;
}

describe("a tail", () => {
  test("a tail begins after a seq, or with the next appended entry", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await say(session, "1", "2", "3");
    expect(await take(session.tail({ after: 1 }), 2)).toEqual(["2", "3"]);
    const fromNow = session.tail();
    await say(session, "4", "5");
    expect(await take(fromNow, 2)).toEqual(["4", "5"]);
  });

  test("a tail follows appends of another connection", async () => {
    const { kernel, path } = await diskKernel();
    const session = await kernel.session("s");
    const other = await openKernel({ path });
    const following = take(session.tail({ after: 0 }), 100);
    const writer = await other.session("s");
    for (let n = 0; n < 100; n++) await say(writer, `${n}`);
    expect(await following).toEqual(Array.from({ length: 100 }, (_, n) => `${n}`));
    await other.close();
  });

  test("a tail hears of an entry that another process appended in the tick of its start", async () => {
    const { kernel, path } = await diskKernel();
    const session = await kernel.session("s");
    await say(session, "1");
    const { seq } = await session.head();
    const program = `
      import { openKernel } from "longhaul";
      await using kernel = await openKernel({ path: process.argv[1] });
      await using session = await kernel.session("s");
      await session.append({ role: "user", text: "2" });
    `;
    const appended = spawnSync(process.execPath, ["--input-type=module", "-e", program, path]);
    const tail = session.tail({ after: seq });
    expect(appended.stderr.toString()).toBe("");
    expect(await take(tail, 1)).toEqual(["2"]);
  });

  proofTest("a tail keeps its process alive while it waits", async () => {
    const { kernel, path } = await diskKernel();
    const session = await kernel.session("s");
    const follower = startChild(new URL("./follower.ts", import.meta.url), [path]);
    expect((await follower.lines.next()).value, follower.errors()).toBe("waiting");
    expect((await follower.lines.next()).value, follower.errors()).toBe("still there");
    await say(session, "at last");
    expect((await follower.lines.next()).value, follower.errors()).toBe("at last");
    expect(await follower.ended()).toBe(0);
  });

  test("a tail reads no further ahead than a slow reader needs", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    let reads = 0;
    const read = store.entries.read.bind(store.entries);
    store.entries.read = (session, query) => {
      reads++;
      expect(query.limit).toBeLessThanOrEqual(64);
      return read(session, query);
    };
    const kernel = await testKernel({ store });
    const session = await kernel.session();
    await session.appendAll(Array.from({ length: 1_000 }, (_, n) => ({ role: "user", text: `${n}` })));
    const tail = session.tail({ after: 0 });
    for (let n = 0; n < 10; n++) await tail.next();
    await turns();
    expect(reads).toBe(1);
    await tail.return(undefined);
  });

  test("a tail ends at its signal, at break or with its session, and leaves no listener", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await say(session, "1");
    const controller = new AbortController();
    const bySignal = take(session.tail({ signal: controller.signal }), 9);
    const byClose = take(session.tail(), 9);
    await take(session.tail({ after: 0 }), 1);
    await turns();
    controller.abort();
    expect(await bySignal).toEqual([]);
    await session.close();
    expect(await byClose).toEqual([]);
    expect(kernel.counts().tail).toEqual({ opened: 3, closed: 3 });
    expect(() => session.tail()).toThrow(expect.objectContaining({ code: "CLOSED" }));
  });

  test("a tail that is no longer read ends with its session", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await say(session, "1", "2");
    const tail = session.tail({ after: 0 });
    await tail.next();
    session.tail();
    await session.close();
    expect(await tail.next()).toEqual({ done: true, value: undefined });
    expect(kernel.counts().tail).toEqual({ opened: 2, closed: 2 });
  });

  test("a tail shows entries of all lines in order of seq, or only certain kinds", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await say(session, "1", "2");
    await session.rewind(1);
    await say(session, "2'");
    expect(await take(session.tail({ after: 0 }), 4)).toEqual(["1", "2", "(line)", "2'"]);
    expect(await take(session.tail({ after: 0, kinds: ["message"] }), 3)).toEqual(["1", "2", "2'"]);
  });
});
