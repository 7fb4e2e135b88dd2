import { cpSync, existsSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { runHere } from "../cli/support/here.ts";
import { testFolder } from "../support/folder.ts";
import { diskKernel, say, texts } from "../support/kernel.ts";
import { proofTest, proofTestIf } from "../support/proof.ts";
import { mountSmallDisk } from "../support/small-disk.ts";

const probe = mountSmallDisk(1_000_000);
probe?.remove();
if (!probe) console.log("skipped: tests of read-only disks need the right to mount a tmpfs");

describe("a store opened for reading", () => {
  proofTest(
    "a store opened for reading shows everything, recalls unindexed words as well, and refuses every write",
    async () => {
      const { kernel, path } = await diskKernel();
      await say(await kernel.session("s"), "the deployment key is turquoise", "another message");
      await kernel.memory.recall("turquoise");
      await say(await kernel.session("s"), "the fallback colour is magenta");
      await kernel.close();
      const before = readdirSync(path);
      await using reading = await openKernel({ path, readOnly: true });
      await using session = await reading.session("s");
      expect(texts(await session.page())).toHaveLength(3);
      for (const word of ["turquoise", "magenta"])
        expect((await reading.memory.recall(word)).hits[0]?.text, word).toContain(word);
      for (const write of [
        () => session.append({ role: "user", text: "x" }),
        () => session.rewind(1),
        () => session.redact(1),
        () => reading.session("new"),
        () => reading.deleteSession("s"),
      ])
        await expect(write()).rejects.toMatchObject({ code: "STORE_READ_ONLY" });
      expect(readdirSync(path).filter((name) => !name.startsWith("log.db-"))).toEqual(before);
    },
  );

  proofTestIf(probe !== undefined)(
    "a store on a read-only disk can be read, including commits that are only in the journal",
    async () => {
      for (const hasJournal of [false, true]) {
        const disk = mountSmallDisk(16_000_000);
        if (!disk) return;
        onTestFinished(() => disk.remove());
        const path = join(disk.path, "store");
        const elsewhere = testFolder();
        const writer = await openKernel({ path: elsewhere });
        await say(await writer.session("s"), "one", "two turquoise");
        if (!hasJournal) await writer.close();
        // As after a crash: the journal exists, but not SQLite's shared-memory file.
        cpSync(elsewhere, path, { recursive: true, filter: (name) => !name.endsWith("-shm") });
        await writer.close();
        disk.setReadOnly(true);
        expect((await runHere(["sessions", "--store", path])).stdout).toContain("s");
        const shown = await runHere(["show", "s", "--store", path]);
        expect([shown.code, shown.stderr]).toEqual([0, expect.stringContaining("reading only")]);
        expect(shown.stdout).toContain("two turquoise");
        expect((await runHere(["recall", "turquoise", "--store", path])).stdout).toContain("two turquoise");
        expect((await runHere(["check", "--store", path])).code).toBe(0);
        expect((await runHere(["forget", "s", "--yes", "--store", path])).stderr).toContain(
          "cannot be written",
        );
      }
    },
  );
});

describe("a missing or empty log next to blobs", () => {
  test.each(["empty", "gone"])("a store whose log is %s is refused, and its blobs stay", async (how) => {
    const path = testFolder();
    {
      await using kernel = await openKernel({ path });
      await using session = await kernel.session("s");
      const data = Buffer.from(`%PDF-1.7 ${"x".repeat(5_000)}`);
      await session.append({ role: "user", parts: [{ type: "data", data }] });
    }
    const file = join(path, "log.db");
    if (how === "gone") rmSync(file);
    else truncateSync(file);
    const blobs = () => readdirSync(join(path, "blobs"), { recursive: true }).length;
    const before = blobs();
    await expect(openKernel({ path })).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining("blobs"),
    });
    expect(blobs()).toBe(before);
    expect(existsSync(file) ? statSync(file).size : 0).toBe(0);
  });

  test("an empty log without blobs opens as a new store", async () => {
    const { kernel, path } = await diskKernel();
    await kernel.close();
    truncateSync(join(path, "log.db"));
    await using again = await openKernel({ path });
    expect(await again.sessions()).toEqual([]);
  });
});
