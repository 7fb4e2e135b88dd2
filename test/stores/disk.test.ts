import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { isLonghaulError, openKernel } from "../../src/kernel/index.ts";
import { say, texts } from "../support/kernel.ts";
import { mountSmallDisk } from "../support/small-disk.ts";

const probe = mountSmallDisk(1_000_000);
probe?.remove();
if (!probe) console.log("skipped: tests of full and read-only disks need the right to mount a tmpfs");

function smallDisk(sizeBytes: number) {
  const disk = mountSmallDisk(sizeBytes);
  if (!disk) throw new Error("could not mount");
  onTestFinished(() => disk.remove());
  return disk;
}

describe.skipIf(!probe)("a full or read-only disk", () => {
  test("a full disk refuses appends with DISK_FULL, keeps everything acknowledged, and works again with room", async () => {
    const disk = smallDisk(12_000_000);
    const ballast = join(disk.path, "ballast");
    writeFileSync(ballast, Buffer.alloc(4_000_000));
    const kernel = await openKernel({ path: join(disk.path, "store") });
    const session = await kernel.session("s");
    let acknowledged = 0;
    let failure: unknown;
    while (!failure && acknowledged < 100_000) {
      try {
        await session.append({
          role: "user",
          text: `${acknowledged} ${randomBytes(1_500).toString("base64")}`,
        });
        acknowledged++;
      } catch (error) {
        failure = error;
      }
    }
    expect(failure).toMatchObject({
      code: "DISK_FULL",
      message: expect.stringContaining("free some space"),
    });
    expect(acknowledged).toBeGreaterThan(100);
    expect((await session.head()).seq).toBe(acknowledged);
    const image = Buffer.concat([Buffer.from("%PDF-"), randomBytes(6_000_000)]);
    await expect(
      session.append({ role: "user", parts: [{ type: "data", data: image }] }),
    ).rejects.toMatchObject({ code: "DISK_FULL" });
    rmSync(ballast);
    await say(session, "room again");
    await kernel.close();

    const again = await openKernel({ path: join(disk.path, "store") });
    const reopened = await again.session("s");
    expect((await reopened.head()).seq).toBe(acknowledged + 1);
    for (let seq = 1; seq <= acknowledged; seq++) expect(await reopened.entry(seq)).toBeDefined();
    expect((await again.size()).blobBytes).toBe(0);
    await again.close();
  });

  test("a read-only disk is reported and not changed, and works again once it is writable", async () => {
    const disk = smallDisk(8_000_000);
    const path = join(disk.path, "store");
    const first = await openKernel({ path });
    await say(await first.session("s"), "1", "2");
    await first.close();
    disk.setReadOnly(true);
    const refused = await openKernel({ path }).catch((error: unknown) => error);
    expect(isLonghaulError(refused, "STORE_READ_ONLY"), String(refused)).toBe(true);
    await expect(openKernel({ path: join(disk.path, "new") })).rejects.toMatchObject({
      code: "STORE_READ_ONLY",
    });
    disk.setReadOnly(false);
    const kernel = await openKernel({ path });
    const session = await kernel.session("s");
    await say(session, "3");
    expect(texts(await session.page())).toEqual(["1", "2", "3"]);
    await kernel.close();
  });
});
