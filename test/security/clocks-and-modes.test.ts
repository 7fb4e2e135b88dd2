import { spawn } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import type { Store } from "../../src/log/store/store.ts";
import { claimOwner, isOwnerAlive, isOwnerRunning, releaseOwner } from "../../src/model/base/owner.ts";
import { findProcess } from "../../src/model/base/process-identity.ts";
import type { Clock } from "../../src/model/clock.ts";
import { Database } from "../../src/stores/sqlite/database.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { startChild } from "../support/child.ts";
import { eventually } from "../support/eventually.ts";
import { testFolder } from "../support/folder.ts";
import { diskKernel, say, testKernel } from "../support/kernel.ts";

const YEAR = 365 * 24 * 3_600_000;
const isLinux = process.platform === "linux";

async function openedStore(path: string, clock?: Clock): Promise<Store> {
  const store = await openSqliteStore({ path, ...(clock && { clock }) });
  onTestFinished(() => store.close());
  return store;
}

describe("a clock that jumps", () => {
  test("a clock that jumps does not take the draft away from its running writer", async () => {
    const { kernel, path } = await diskKernel();
    const session = await kernel.session("s");
    const draft = session.draft({ role: "assistant", text: "half a" });
    await draft.flush();
    const late = await testKernel({ path, clock: { now: () => Date.now() + YEAR } });
    const same = await late.session("s");
    expect((await same.page()).entries).toEqual([]);
    expect(await same.drafts()).toHaveLength(1);
    await draft.finish({ role: "assistant", text: "half a reply" });
    expect((await same.page()).entries).toHaveLength(1);
  });

  test.skipIf(!isLinux)(
    "a clock that jumps does not end the claims of a running process, or keep those of a dead process",
    async () => {
      const child = spawn("sleep", ["60"]);
      onTestFinished(() => void child.kill("SIGKILL"));
      const pid = child.pid as number;
      const own = claimOwner();
      onTestFinished(() => releaseOwner(own));
      const owner = `${own.split("|")[0]}|${pid}|${findProcess(pid)?.startedAt}.x`;
      expect([isOwnerRunning(owner), isOwnerAlive(owner, 0, YEAR)]).toEqual([true, false]);
      expect(isOwnerRunning(owner.replace(/\|(\d+)\./, "|1."))).toBe(false);
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
      expect(isOwnerRunning(owner)).toBe(false);
    },
  );

  test.skipIf(!isLinux)(
    "a clock that jumps does not remove a blob that a running process is writing",
    async () => {
      const { kernel, path } = await diskKernel();
      await kernel.session("s");
      const store = await openedStore(path);
      const own = await store.blobs.write([Buffer.from("an image of this process")], { maxBytes: 1_000 });
      const child = startChild(new URL("./blob-writer.ts", import.meta.url), [
        path,
        "an image of another process",
      ]);
      const digest = (await child.lines.next()).value as string;
      const late = await openedStore(path, { now: () => Date.now() + YEAR });
      await late.blobs.collect();
      expect(await store.blobs.sizeOf(own.digest)).toBeGreaterThan(0);
      expect(await store.blobs.sizeOf(digest)).toBeGreaterThan(0);
      child.process.kill("SIGKILL");
      await child.ended();
      await late.blobs.collect();
      expect(await store.blobs.sizeOf(own.digest)).toBeGreaterThan(0);
      expect(await store.blobs.sizeOf(digest)).toBeUndefined();
    },
  );

  test("a clock that jumps affects only the dates of entries written during the jump", async () => {
    const { kernel, path } = await diskKernel();
    const session = await kernel.session("s");
    await say(session, "before");
    const late = await testKernel({ path, clock: { now: () => Date.now() + 10 * YEAR } });
    await say(await late.session("s"), "ahead", "ahead too");
    const from = Date.now();
    await say(session, "after", "and after that");
    const { entries } = await session.page();
    expect(entries.map(({ at }) => at > from + YEAR)).toEqual([false, true, true, false, false]);
    expect(entries.at(-1)?.at).toBeLessThanOrEqual(Date.now());
    const store = await openedStore(path);
    expect(await store.entries.seqAt("s", from - 1)).toBe(1);
    expect(await store.entries.seqAt("s", Date.now())).toBe(5);
  });

  test("a clock that jumps does not end the wait for a lock", async () => {
    const path = join(testFolder(), "x.db");
    const holder = new DatabaseSync(path);
    holder.exec("CREATE TABLE t (a); BEGIN IMMEDIATE");
    const waiting = new DatabaseSync(path);
    const database = new Database(path, waiting, 5_000);
    const real = Date.now;
    onTestFinished(() => {
      Date.now = real;
    });
    Date.now = () => real() + (performance.now() > start + 100 ? YEAR : 0);
    const start = performance.now();
    setTimeout(() => holder.exec("COMMIT"), 400);
    await database.transact(() => waiting.exec("INSERT INTO t VALUES (1)"));
    expect(performance.now() - start).toBeGreaterThan(300);
    database.close();
    holder.close();
  });
});

describe("an ended process", () => {
  test.skipIf(!isLinux)("an ended process whose parent has not collected it counts as dead", async () => {
    // A shell may wait for its child. The program that takes its place never does, so the child lives until then.
    const child = "(until grep -q sleep /proc/$$/comm; do :; done)";
    const parent = spawn("sh", ["-c", `${child} & echo $!; exec sleep 60`], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    onTestFinished(() => void parent.kill("SIGKILL"));
    const pid = Number(String(await new Promise<Buffer>((resolve) => parent.stdout.once("data", resolve))));
    const state = () => readFileSync(`/proc/${pid}/stat`, "utf8").replace(/.*\) /, "")[0];
    await eventually("the child is a zombie", () => state() === "Z");
    expect(findProcess(pid)).toBeUndefined();
  });
});

describe("the files of a store", () => {
  test("opening a store takes access to its files away from other users", async () => {
    const path = testFolder();
    {
      await using kernel = await openKernel({ path });
      await say(await kernel.session("s"), "secret");
    }
    chmodSync(join(path, "log.db"), 0o644);
    await using kernel = await openKernel({ path });
    await say(await kernel.session("s"), "secret");
    for (const name of readdirSync(path).filter((file) => file.startsWith("log.db")))
      expect([name, statSync(join(path, name)).mode & 0o077]).toEqual([name, 0]);
  });

  test("a redaction that reports success leaves nothing of the entry in any file of the store", async () => {
    const { kernel, path } = await diskKernel({ embedder: null });
    await using session = await kernel.session("s");
    await say(session, "the word is quicksilverfish", "another message");
    expect((await kernel.memory.recall("quicksilverfish")).hits[0]?.text).toContain("quicksilverfish");
    expect((await session.redact(1)).scrubbed).toBe(true);
    for (const name of readdirSync(path, { recursive: true }).map(String)) {
      const file = join(path, name);
      if (statSync(file).isFile())
        expect(readFileSync(file, "latin1"), name).not.toContain("quicksilverfish");
    }
  });

  test("a store that lacks a table is reported as damaged, not as a system failure", async () => {
    const { kernel, path } = await diskKernel();
    await kernel.close();
    const db = new DatabaseSync(join(path, "log.db"));
    db.exec("DROP TABLE blob_holds");
    db.close();
    await expect(openKernel({ path })).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });
});
