import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isTerminal, openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { mountSmallDisk } from "../support/small-disk.ts";
import { countTagged } from "../tasks/process/family.ts";
import { taskWorld } from "./support/tasks.ts";

const disk = mountSmallDisk(4_000_000);
if (!disk) console.log("skipped: a test of a task on a full disk needs the right to mount a tmpfs");

/** Writes a line, and many once the file exists: a slow machine would find the disk full too early. */
const flood = (go: string) =>
  `echo a line; until test -e "${go}"; do sleep 0.1; done; while :; do echo a line; sleep 0.01; done`;

test.skipIf(!disk)(
  "a task on a full disk is ended anyway, and its end is logged once there is room",
  async () => {
    onTestFinished(() => disk?.remove());
    const { path } = disk as { readonly path: string };
    const { task, store, untilItSays, details } = taskWorld({}, join(path, "store"));
    const go = join(testFolder(), "go");
    await task("run", "--background", "--id", "flood", "--", "sh", "-c", flood(go));
    await untilItSays("flood", "line");
    const tag = await tagOf(store, "flood");
    expect(await countTagged(tag)).toBeGreaterThan(0);
    writeFileSync(go, "");
    const filler = join(path, "filler");
    let sizeBytes = 4_000_000;
    for (; sizeBytes > 0; sizeBytes -= 4_096)
      try {
        writeFileSync(filler, Buffer.alloc(sizeBytes));
        break;
      } catch {
        // Retry with one page less until the file fits and fills the disk.
      }
    // The request may or may not find a last free page; the programs end in either case.
    await task("kill", "flood");
    await expect.poll(() => countTagged(tag)).toBe(0);
    rmSync(filler);
    await expect.poll(async () => isTerminal((await details("flood")).status.state)).toBe(true);
  },
);

async function tagOf(path: string, id: string): Promise<string> {
  await using kernel = await openKernel({ path });
  return await kernel.tasks.tag(id);
}
