import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { MonitorEvent } from "../../../src/kernel/faces/log.ts";
import { startChild } from "../../support/child.ts";
import { testFolder } from "../../support/folder.ts";
import { diskKernel, say, testKernel } from "../../support/kernel.ts";
import { proofTest } from "../../support/proof.ts";

const PNG = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  Buffer.alloc(200_000, 7),
]);

describe("a sample", () => {
  test("a sample counts messages, images, windows, saves and searches, and measures process and disk", async () => {
    const { kernel } = await diskKernel({ embedder: null });
    const session = await kernel.session("talk");
    await say(session, "The harbor has seven cranes.", "Two are broken.");
    await session.append({ role: "user", parts: [{ type: "data", data: PNG }] });
    const window = session.window({ model: "claude-sonnet-4-5" });
    await window.fit();
    await kernel.memory.recall("cranes");
    const sample = await kernel.monitor.sample();
    expect(sample.messages.count).toBeGreaterThanOrEqual(3);
    expect(sample.messages.bytes).toBeGreaterThan(0);
    expect(sample.images).toEqual({ count: 1, bytes: PNG.length });
    expect(sample.apiHistory.count).toBe(3);
    expect(sample.apiHistory.bytes).toBeGreaterThan(0);
    expect(sample.saves.count).toBeGreaterThan(0);
    expect(sample.saves.averageMs).toBeGreaterThan(0);
    expect(sample.searches.count).toBe(1);
    expect(sample.disk.blobBytes).toBe(PNG.length);
    expect(sample.disk.journalBytes).toBeGreaterThan(0);
    expect(sample.heapUsedBytes).toBeGreaterThan(1e6);
    expect(sample.heapLimitBytes).toBeGreaterThan(sample.heapUsedBytes);
    expect(sample.rssBytes).toBeGreaterThan(1e6);
    if (process.platform === "linux") expect(sample.files).toBeGreaterThan(0);
    expect(sample.caches.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["blobs", "store", "recall", "windows"]),
    );
    expect(window).toBeDefined();
  });

  test("a sample counts images that left the cache, and the bytes freed", async () => {
    const limits = { blobCacheBytes: 2_500, blobCacheAgeMs: 60_000 };
    const kernel = await testKernel({ path: ":memory:", monitor: false, limits });
    const session = await kernel.session();
    const events: MonitorEvent[] = [];
    kernel.monitor.on((event) => void (event.type === "images" && events.push(event)));
    for (let index = 0; index < 4; index++) {
      const data = Buffer.alloc(1_000, index + 1);
      const { message } = await session.append({ role: "user", parts: [{ type: "data", data }] });
      const [part] = message.parts;
      if (part?.type === "blob") await kernel.blobs.bytes(part.digest);
    }
    await kernel.monitor.check();
    expect(events).toMatchObject([{ type: "images", count: 2, freedBytes: 2_000 }]);
    await kernel.monitor.relieve();
    await kernel.monitor.check();
    await kernel.monitor.check();
    expect(events.slice(1)).toMatchObject([{ count: 2, freedBytes: 2_000 }]);
    expect((await kernel.monitor.sample()).freedImages).toEqual({ count: 4, bytes: 4_000 });
  });

  test("a sample counts compactions and their time", async () => {
    const kernel = await testKernel();
    const session = await kernel.session("long");
    for (let turn = 0; turn < 30; turn++)
      await say(session, `Question ${turn} about the harbor. ${"word ".repeat(200)}`);
    expect(await session.compact({})).toBeDefined();
    const { compactions } = await kernel.monitor.sample();
    expect(compactions.count).toBe(1);
    expect(compactions.averageMs).toBeGreaterThan(0);
    expect(compactions.lastAt).toBeGreaterThan(Date.now() - 60_000);
  });
});

describe("critical pressure", () => {
  test("critical pressure frees at least 80 % of the cache bytes, lowers the limits and empties the journal, while work continues", async () => {
    const { kernel } = await diskKernel({ embedder: null, monitor: { warningBytes: 1, criticalBytes: 2 } });
    const session = await kernel.session("talk");
    const texts = Array.from({ length: 400 }, (_, n) => `Message ${n} about crane${n} and dock${n % 17}.`);
    await session.appendAll(texts.map((text) => ({ role: "user" as const, text })));
    for (let n = 0; n < 20; n++)
      await session.append({
        role: "user",
        parts: [{ type: "data", data: Buffer.concat([PNG, Buffer.from(`${n}`)]) }],
      });
    const window = session.window({ model: "claude-sonnet-4-5" });
    const before = await window.fit();
    await kernel.memory.recall("crane17");
    for (const entry of (await session.page({ limit: 20 })).entries)
      if (entry.kind === "message")
        for (const part of entry.message.parts)
          if (part.type === "blob") await kernel.blobs.bytes(part.digest);
    const events: MonitorEvent[] = [];
    kernel.monitor.on((event) => events.push(event));
    const sample = await kernel.monitor.check();
    expect(sample.level).toBe("critical");
    expect(sample.cacheBytes).toBeGreaterThan(2e6);
    const { lastRelief } = kernel.monitor;
    expect(lastRelief?.cacheBytesBefore).toBe(sample.cacheBytes);
    expect(lastRelief?.cacheBytesAfter).toBeLessThanOrEqual(0.2 * sample.cacheBytes);
    expect(lastRelief?.journalBytes).toBeGreaterThan(0);
    expect(kernel.maintenance.cacheShare).toBeLessThan(1);
    expect(events.map(({ type }) => type)).toEqual(["sample", "critical", "relief"]);

    // Everything is read again, with the same results.
    expect((await window.fit()).messages).toEqual(before.messages);
    expect((await kernel.memory.recall("crane17")).hits[0]?.text).toContain("crane17");
    expect((await say(session, "And on."))[0]?.seq).toBeGreaterThan(420);
    const { caches } = await kernel.monitor.sample();
    expect(caches.find(({ name }) => name === "recall")?.sizeBytes).toBeGreaterThan(0);
  });

  proofTest("critical pressure keeps at most the configured number of heap snapshots", async () => {
    const folder = join(testFolder(), "heap");
    // The heap of this process holds the modules of many tests, and its snapshot takes minutes.
    const child = startChild(new URL("./keep-snapshots.ts", import.meta.url), [folder]);
    const { value } = await child.lines.next();
    const [first, second] = JSON.parse(value ?? "[]");
    expect(await child.ended(), child.errors()).toBe(0);
    expect(existsSync(second.heapSnapshot ?? "")).toBe(true);
    expect(existsSync(first.heapSnapshot ?? "")).toBe(first.heapSnapshot === second.heapSnapshot);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  test("caches get their limits back some time after critical pressure has ended", async () => {
    // Other tests in this process may have left much on the heap.
    const monitor = { warningBytes: 1e12, criticalBytes: 2e12 };
    const kernel = await testKernel({ path: ":memory:", monitor });
    await kernel.monitor.relieve();
    expect(kernel.maintenance.cacheShare).toBeLessThan(1);
    for (let n = 0; n < 10; n++) await kernel.monitor.check();
    expect(kernel.maintenance.cacheShare).toBe(1);
  });
});

describe("the monitor", () => {
  test("the monitor measures at its interval and stops with the kernel", async () => {
    const kernel = await testKernel({ path: ":memory:", monitor: { intervalMs: 10 } });
    const sampled = new Promise<void>((resolve) => {
      const off = kernel.monitor.on(({ type }) => {
        if (type !== "sample") return;
        off();
        resolve();
      });
    });
    await sampled;
    expect(kernel.monitor.last).toBeDefined();
    await kernel.close();
    const { last } = kernel.monitor;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(kernel.monitor.last).toBe(last);
  });

  test("the monitor warns between the limits, and survives a failing listener", async () => {
    const kernel = await testKernel({ path: ":memory:", monitor: { warningBytes: 1, criticalBytes: 1e15 } });
    const texts: string[] = [];
    kernel.monitor.on(() => {
      throw new Error("broken");
    });
    kernel.monitor.on((event) => event.type === "warning" && texts.push(event.text));
    await kernel.monitor.check();
    await kernel.monitor.check();
    expect(texts).toEqual([expect.stringMatching(/^Memory is above the warning limit/)]);
  });

  test("the monitor also empties caches of a program", async () => {
    const kernel = await testKernel();
    let sizeBytes = 5_000;
    const remove = kernel.maintenance.addCache("mine", {
      sizeBytes: () => sizeBytes,
      drop: () => {
        sizeBytes = 0;
      },
    });
    const { caches } = await kernel.monitor.relieve();
    expect(caches).toContainEqual({ name: "mine", freedBytes: 5_000 });
    remove();
    expect((await kernel.monitor.sample()).caches.map(({ name }) => name)).not.toContain("mine");
  });

  test.each([
    { intervalMs: 0 },
    { warningBytes: 3, criticalBytes: 2 },
    { heapSnapshots: 2 },
    { interval: 30 },
  ])("the monitor refuses wrong options: %j", async (monitor) => {
    await expect(testKernel({ path: ":memory:", monitor })).rejects.toMatchObject({
      code: "ARGUMENT_INVALID",
    });
  });
});
