import { appendFileSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { backupStore, restoreStore, verifyBackup } from "../../../../src/kernel/faces/log.ts";
import { openKernel, parseEntryId, type Session } from "../../../../src/kernel/index.ts";
import { jsonHere } from "../../../cli/support/here.ts";
import { type Child, startChild } from "../../../support/child.ts";
import { testFolder } from "../../../support/folder.ts";
import { diskKernel, say, testKernel, textOf } from "../../../support/kernel.ts";
import { proofTest } from "../../../support/proof.ts";

const BYTES = Buffer.from("a long attachment ".repeat(10_000));

/** A store with two sessions, one of them with a blob; `isIndexed` adds the index. */
async function filledStore(isIndexed = false): Promise<string> {
  const path = testFolder();
  await using kernel = await openKernel({ path });
  const session = await kernel.session("talk", { title: "A talk" });
  await say(session, "The harbor has seven cranes.", "Two of them are broken.");
  await session.append({ role: "user", parts: [{ type: "data", mime: "text/plain", data: BYTES }] });
  await say(await kernel.session("other"), "Nothing to see.");
  if (isIndexed) await kernel.memory.recall("cranes");
  writeFileSync(join(path, "longhaul.json"), '{ "threshold": 60 }');
  return path;
}

/** The only blob of a folder. */
function blobOf(folder: string): string {
  const names = readdirSync(join(folder, "blobs"), { recursive: true, withFileTypes: true });
  const [file] = names.filter((one) => one.isFile());
  return join(file?.parentPath ?? "", file?.name ?? "");
}

describe("a backup", () => {
  test("a backup holds entries, blobs, the index and the settings, and restores to an equal store", async () => {
    const store = await filledStore(true);
    const [backup, restored] = [join(testFolder(), "b"), join(testFolder(), "r")];
    const manifest = await backupStore(store, backup);
    expect(manifest).toMatchObject({ sessions: 2, entries: 4, blobs: 1, damagedBlobs: [] });
    expect(manifest.files.map(({ path }) => path)).toEqual(["log.db", "memory.db", "longhaul.json"]);
    expect(await verifyBackup(backup)).toEqual(manifest);
    expect(await restoreStore(backup, restored)).toEqual({ manifest });

    const kernel = await testKernel({ path: restored });
    expect(await kernel.check()).toMatchObject({ sessions: 2, entries: 4, blobs: 1, damages: 0 });
    expect((await kernel.memory.state()).unindexed).toBe(0);
    const talk = await kernel.session("talk");
    expect(textOf(await talk.entry(2))).toBe("Two of them are broken.");
    expect((await talk.append({ role: "user", text: "And on." })).seq).toBe(4);
    expect((await kernel.session("new")).id).toBe("new");
  });

  test("a backup can be read only by its owner", async () => {
    const backup = join(testFolder(), "b");
    await backupStore(await filledStore(), backup);
    for (const path of [backup, join(backup, "log.db"), join(backup, "backup.json"), blobOf(backup)])
      expect(statSync(path).mode & 0o077, path).toBe(0);
  });

  test("a backup refuses a folder with content, and leaves nothing behind if it is stopped", async () => {
    const store = await filledStore();
    const folder = testFolder();
    writeFileSync(join(folder, "mine"), "");
    await expect(backupStore(store, folder)).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    const above = testFolder();
    const signal = AbortSignal.abort();
    await expect(backupStore(store, join(above, "b"), { signal })).rejects.toMatchObject({ code: "ABORTED" });
    expect(readdirSync(above)).toEqual([]);
  });

  test("a backup names blobs that the store has lost, and leaves out a damaged index", async () => {
    const store = await filledStore();
    rmSync(blobOf(store));
    writeFileSync(join(store, "memory.db"), "SQLite format 3\0 but not really".repeat(100));
    const manifest = await backupStore(store, join(testFolder(), "b"));
    expect(manifest.damagedBlobs).toHaveLength(1);
    expect(manifest.files.map(({ path }) => path)).toEqual(["log.db", "longhaul.json"]);
  });

  test.each([
    [
      "a database",
      (backup: string) => appendFileSync(join(backup, "log.db"), "x"),
      /log\.db has other bytes/,
    ],
    ["a blob", (backup: string) => appendFileSync(blobOf(backup), "x"), /blobs.* has other bytes/],
    ["no blob", (backup: string) => rmSync(blobOf(backup)), /0 blobs; it was written with 1/],
    ["the manifest", (backup: string) => writeFileSync(join(backup, "backup.json"), "{}"), /no manifest/],
    ["no manifest", (backup: string) => rmSync(join(backup, "backup.json")), /missing/],
  ])("a backup with damaged %s is refused, and no store is created", async (_, damage, why) => {
    const backup = join(testFolder(), "b");
    await backupStore(await filledStore(), backup);
    damage(backup);
    const to = join(testFolder(), "r");
    const refusal = { code: "BACKUP_INVALID", message: expect.stringMatching(why) };
    await expect(verifyBackup(backup)).rejects.toMatchObject(refusal);
    await expect(restoreStore(backup, to)).rejects.toMatchObject(refusal);
    expect(existsSync(to)).toBe(false);
  });
});

describe("a restore over a store", () => {
  test("a restore over a store is refused without consent or while the store is open, and otherwise moves the old store aside", async () => {
    const backup = join(testFolder(), "b");
    await backupStore(await filledStore(), backup);
    const { kernel, path } = await diskKernel();
    await say(await kernel.session("mine"), "Keep me.");
    await expect(restoreStore(backup, path)).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    await expect(restoreStore(backup, path, { replace: true })).rejects.toMatchObject({ code: "STORE_BUSY" });
    await kernel.close();
    const { movedTo = "" } = await restoreStore(backup, path, { replace: true });
    const [former, now] = [await testKernel({ path: movedTo }), await testKernel({ path })];
    expect(await former.find("mine")).toBeDefined();
    expect(await now.find("mine")).toBeUndefined();
    expect(await now.find("talk")).toBeDefined();
    await former.close();
    rmSync(movedTo, { recursive: true });
  });
});

describe("a backup while others write", () => {
  test("a backup holds every entry acknowledged before it began, while others write", async () => {
    const { kernel, path } = await diskKernel();
    const session = await kernel.session("talk");
    const ids: string[] = [];
    const controller = new AbortController();
    const writing = (async () => {
      while (!controller.signal.aborted) {
        ids.push((await session.append({ role: "user", text: "x".repeat(500) })).id);
        await setImmediate();
      }
    })();
    while (ids.length < 200) await setImmediate();
    await expectWhole(path, ids.slice());
    controller.abort();
    await writing;
  });

  proofTest(
    "a backup while eight processes write restores to a store without damage",
    async () => {
      const { kernel, path } = await diskKernel();
      await kernel.close();
      const writers = Array.from({ length: 8 }, (_, index) =>
        startChild(new URL("./backup-writer.ts", import.meta.url), [path, `${index}`]),
      );
      const acknowledged = writers.map(() => [] as string[]);
      const reading = writers.map((child, index) => readIds(child, acknowledged[index] as string[]));
      while (acknowledged.some((ids) => ids.length < 40)) await sleep(10);
      await expectWhole(path, acknowledged.flat());
      for (const child of writers) child.process.kill("SIGKILL");
      await Promise.all(reading);
    },
    300_000,
  );
});

/** Takes a backup, restores it, and looks for the entries. */
async function expectWhole(path: string, ids: readonly string[]): Promise<void> {
  const [backup, restored] = [join(testFolder(), "b"), join(testFolder(), "r")];
  const manifest = await backupStore(path, backup);
  expect(manifest.damagedBlobs).toEqual([]);
  await restoreStore(backup, restored);
  await using copy = await openKernel({ path: restored });
  expect(await copy.check()).toMatchObject({ damages: 0, entries: manifest.entries });
  expect((await jsonHere(["doctor", "--store", restored])).code).toBe(0);
  const sessions = new Map<string, Session>();
  for (const id of ids) {
    const { session, seq } = parseEntryId(id);
    const opened = sessions.get(session) ?? (await copy.session(session));
    sessions.set(session, opened);
    expect((await opened.entry(seq))?.kind, id).toBe("message");
  }
}

async function readIds(child: Child, ids: string[]): Promise<void> {
  for await (const line of child.lines) ids.push(...line.split(" "));
}
