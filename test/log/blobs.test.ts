import { createHash, randomBytes } from "node:crypto";
import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { DataSource } from "../../src/kernel/faces/log.ts";
import type { BlobPart, Entry, ErrorCode, Kernel, MessageBody, Part } from "../../src/kernel/index.ts";
import { diskKernel, testKernel } from "../support/kernel.ts";

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const image = (sizeBytes: number) => Buffer.concat([PNG, randomBytes(sizeBytes - PNG.length)]);
const dataUrl = (bytes: Buffer) => `data:image/png;base64,${bytes.toString("base64")}`;
const blobOf = (entry: Entry<MessageBody>) => entry.message.parts[0] as BlobPart;
const filesIn = (path: string) =>
  readdirSync(join(path, "blobs"), { recursive: true, withFileTypes: true }).filter((file) => file.isFile());

async function collectBytes(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe("data in a message", () => {
  test("data in a message moves from the log into one blob, whether given as data URL, base64, bytes or stream", async () => {
    const { kernel, path } = await diskKernel();
    const session = await kernel.session();
    const bytes = image(300_000);
    async function* stream(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += 7_777) yield bytes.subarray(at, at + 7_777);
    }
    const digest = createHash("sha256").update(bytes).digest("hex");
    for (const data of [dataUrl(bytes), bytes.toString("base64"), bytes, stream()]) {
      const entry = await session.append({ role: "user", parts: [{ type: "data", data, name: "shot.png" }] });
      expect(blobOf(entry)).toEqual({
        type: "blob",
        digest,
        sizeBytes: 300_000,
        mime: "image/png",
        name: "shot.png",
      });
      expect(await session.entry(entry.seq)).toEqual(entry);
    }
    expect(filesIn(path)).toHaveLength(1);
    expect((await collectBytes(kernel.blobs.stream(digest))).equals(bytes)).toBe(true);
    expect(Buffer.from(await kernel.blobs.bytes(digest)).equals(bytes)).toBe(true);
    expect(kernel.blobs.cachedBytes).toBe(300_000);
  });

  test("data in a message inside a tool result becomes a blob too", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    const output = [
      { type: "text", text: "here is the page" },
      { type: "data", data: dataUrl(image(5_000)) },
    ] as const;
    const entry = await session.append({
      role: "tool",
      parts: [{ type: "tool-result", callId: "1", output }],
    });
    expect(entry.message.parts).toMatchObject([
      { type: "tool-result", output: [{ type: "text" }, { type: "blob", sizeBytes: 5_000 }] },
    ]);
  });

  const refused: readonly [string, () => DataSource, ErrorCode][] = [
    ["cut off", () => dataUrl(image(1_000)).slice(0, -3), "BASE64_INVALID"],
    ["empty", () => "", "BASE64_INVALID"],
    ["an empty data URL", () => "data:text/plain;base64,", "BASE64_INVALID"],
    ["not base64", () => "data:image/png;base64,@@@@", "BASE64_INVALID"],
    ["labelled wrongly", () => `data:image/jpeg;base64,${image(1_000).toString("base64")}`, "MIME_MISMATCH"],
    [
      "no image at all",
      () => `data:image/png;base64,${Buffer.from("hello there, world").toString("base64")}`,
      "MIME_MISMATCH",
    ],
    ["too large", () => image(200_001), "BLOB_TOO_LARGE"],
    ["of no known kind", () => ({ buffer: true }) as never, "ARGUMENT_INVALID"],
  ];

  test.each(refused)(
    "data in a message that is %s is refused, and nothing is stored",
    async (_, data, code) => {
      const { kernel, path } = await diskKernel({ limits: { maxBlobBytes: 200_000 } });
      const session = await kernel.session();
      await expect(
        session.append({ role: "user", parts: [{ type: "data", data: data() }] }),
      ).rejects.toMatchObject({ code });
      expect((await session.head()).seq).toBe(0);
      expect(filesIn(path)).toEqual([]);
      await session.append({ role: "user", text: "and the session goes on" });
    },
  );

  test("data in a message is not stored if another part of the message or the append itself is refused", async () => {
    const { kernel, path } = await diskKernel();
    const session = await kernel.session();
    const good = { type: "data", data: image(5_000) } as const;
    const bad = { type: "data", data: "@@@@" } as const;
    await expect(session.append({ role: "user", parts: [good, bad] })).rejects.toMatchObject({
      code: "BASE64_INVALID",
    });
    await expect(session.append({ role: "user", parts: [good] }, { expectedHead: 9 })).rejects.toMatchObject({
      code: "POSITION_CONFLICT",
    });
    expect(filesIn(path)).toEqual([]);
    expect((await kernel.size()).blobBytes).toBe(0);
  });

  test("storing data in a message can be aborted by a signal", async () => {
    const { kernel, path } = await diskKernel();
    const session = await kernel.session();
    const controller = new AbortController();
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        yield randomBytes(1_000);
        controller.abort();
      }
    }
    const append = session.append(
      { role: "user", parts: [{ type: "data", data: endless(), mime: "application/x-noise" }] },
      { signal: controller.signal },
    );
    await expect(append).rejects.toMatchObject({ code: "ABORTED" });
    expect(filesIn(path)).toEqual([]);
  });
});

describe("large parts", () => {
  const long = (length: number) =>
    Array.from({ length: length / 10 }, (_, index) => `${index} 字 line`.padEnd(9).slice(0, 9)).join("\n");
  const cases: readonly [string, Part][] = [
    ["text", { type: "text", text: long(200_000) }],
    ["reasoning", { type: "reasoning", text: long(200_000), opaque: { signature: "s" } }],
    [
      "tool-call",
      { type: "tool-call", callId: "c", name: "write_file", input: { path: "a", content: long(200_000) } },
    ],
    ["raw", { type: "raw", format: "codex", value: { blob: long(200_000) } }],
  ];

  test.each(cases)(
    "large parts of type %s move into a blob with a preview, and can be restored",
    async (of, part) => {
      const kernel = await testKernel();
      const session = await kernel.session();
      const blob = blobOf(await session.append({ role: "assistant", parts: [part] }));
      expect(blob).toMatchObject({ type: "blob", of });
      expect(blob.preview).toMatch(/characters …\]/);
      expect(blob.preview?.length).toBeLessThan(2_200);
      expect(await kernel.blobs.restore(blob)).toEqual(part);
      if (of === "tool-call") expect(blob).toMatchObject({ callId: "c", toolName: "write_file" });
    },
  );

  test("large parts in a tool result move into a blob, and small ones stay", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    const output = long(100_000);
    const big = await session.append({ role: "tool", parts: [{ type: "tool-result", callId: "1", output }] });
    const result = big.message.parts[0];
    expect(result).toMatchObject({
      type: "tool-result",
      callId: "1",
      output: [{ type: "blob", of: "text", mime: "text/plain" }],
    });
    if (result?.type === "tool-result")
      expect(await kernel.blobs.restore(result.output[0] as BlobPart)).toEqual({
        type: "text",
        text: output,
      });
    const small = await session.append({
      role: "tool",
      parts: [{ type: "tool-result", callId: "2", output: long(20_000) }],
    });
    expect(small.message.parts[0]).toMatchObject({ output: [{ type: "text" }] });
  });
});

describe("a blob", () => {
  test("a blob with one flipped byte is detected and named, streamed or whole", async () => {
    const { kernel, path } = await diskKernel();
    const session = await kernel.session();
    const { digest } = blobOf(
      await session.append({ role: "user", parts: [{ type: "data", data: image(400_000) }] }),
    );
    const file = join(path, "blobs", digest.slice(0, 2), digest.slice(2));
    const bytes = readFileSync(file);
    bytes[200_000] = (bytes[200_000] as number) ^ 1;
    writeFileSync(file, bytes);
    await expect(kernel.blobs.bytes(digest)).rejects.toMatchObject({
      code: "BLOB_CORRUPT",
      message: expect.stringContaining(digest),
    });
    await expect(collectBytes(kernel.blobs.stream(digest))).rejects.toMatchObject({ code: "BLOB_CORRUPT" });
    unlinkSync(file);
    await expect(kernel.blobs.bytes(digest)).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
    await expect(kernel.blobs.bytes("../../etc/passwd")).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
  });

  test("a blob with a lost file is restored when the same data is appended again", async () => {
    const { kernel, path } = await diskKernel();
    const session = await kernel.session();
    const data = image(1_000);
    const { digest } = blobOf(await session.append({ role: "user", parts: [{ type: "data", data }] }));
    unlinkSync(join(path, "blobs", digest.slice(0, 2), digest.slice(2)));
    await session.append({ role: "user", parts: [{ type: "data", data }] });
    expect(Buffer.from(await kernel.blobs.bytes(digest)).equals(data)).toBe(true);
  });

  test("a blob above the read limit can only be streamed", async () => {
    const kernel = await testKernel({ path: ":memory:", limits: { maxReadBytes: 10_000 } });
    const session = await kernel.session();
    const { digest } = blobOf(
      await session.append({ role: "user", parts: [{ type: "data", data: image(10_001) }] }),
    );
    await expect(kernel.blobs.bytes(digest)).rejects.toMatchObject({ code: "BLOB_TOO_LARGE" });
    expect(await collectBytes(kernel.blobs.stream(digest))).toHaveLength(10_001);
  });

  test("a blob stays in the cache only while it is recent and there is room", async () => {
    let now = 1_000;
    const kernel = await testKernel({
      path: ":memory:",
      clock: { now: () => now },
      limits: { blobCacheBytes: 25_000, blobCacheAgeMs: 500 },
    });
    const session = await kernel.session();
    const digests: string[] = [];
    for (let n = 0; n < 4; n++)
      digests.push(
        blobOf(await session.append({ role: "user", parts: [{ type: "data", data: image(10_000) }] })).digest,
      );
    for (const digest of digests) await kernel.blobs.bytes(digest);
    expect(kernel.blobs.cachedBytes).toBe(20_000);
    now += 501;
    const first = await kernel.blobs.bytes(digests[3] as string);
    expect(await kernel.blobs.bytes(digests[3] as string)).toBe(first);
  });

  test("a blob can be referenced by its digest, and a missing one is refused", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    const part = blobOf(await session.append({ role: "user", parts: [{ type: "data", data: image(900) }] }));
    await session.append({ role: "user", parts: [part] });
    expect((await kernel.blobs.bytes(part.digest)).byteLength).toBe(900);
    const missing = { ...part, digest: "f".repeat(64) };
    await expect(session.append({ role: "user", parts: [missing] })).rejects.toMatchObject({
      code: "BLOB_NOT_FOUND",
    });
  });
});

describe("collecting garbage", () => {
  test("collecting garbage removes leftovers of crashed writers, and nothing in use", async () => {
    const { kernel, path } = await diskKernel();
    const session = await kernel.session();
    const { digest } = blobOf(
      await session.append({ role: "user", parts: [{ type: "data", data: image(5_000) }] }),
    );
    const stray = join(path, "blobs", digest.slice(0, 2), "0".repeat(62));
    writeFileSync(stray, "left by a crash between rename and commit");
    const abandoned = join(path, "blobs", "incoming", "abandoned");
    const fresh = join(path, "blobs", "incoming", "fresh");
    for (const file of [abandoned, fresh]) writeFileSync(file, "half");
    utimesSync(abandoned, new Date(Date.now() - 7_200_000), new Date(Date.now() - 7_200_000));
    expect(await kernel.collectGarbage()).toMatchObject({ blobs: 1, blobBytes: 41 });
    expect([stray, abandoned, fresh].map((file) => existsSync(file))).toEqual([false, false, true]);
    expect(statSync(join(path, "blobs", digest.slice(0, 2), digest.slice(2))).size).toBe(5_000);
  });
});

describe("the cache of blobs", () => {
  const imageIn = async (kernel: Kernel) => {
    const session = await kernel.session();
    const entry = await session.append({ role: "user", parts: [{ type: "data", data: image(2_000) }] });
    return blobOf(entry).digest;
  };

  test("the cache of blobs drops old blobs by itself, even without requests", async () => {
    const kernel = await testKernel({ path: ":memory:", limits: { blobCacheAgeMs: 60 } });
    for (let n = 0; n < 3; n++) await kernel.blobs.bytes(await imageIn(kernel));
    expect(kernel.blobs.cachedBytes).toBeGreaterThan(0);
    await expect.poll(() => kernel.blobs.cachedBytes).toBe(0);
    await kernel.blobs.bytes(await imageIn(kernel));
    expect(kernel.blobs.cachedBytes).toBe(2_000);
    await expect.poll(() => kernel.blobs.cachedBytes).toBe(0);
  });

  test("the cache of blobs uses the kernel's clock", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "setInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    let now = 1_000;
    const kernel = await testKernel({
      path: ":memory:",
      clock: { now: () => now },
      limits: { blobCacheAgeMs: 100 },
    });
    await kernel.blobs.bytes(await imageIn(kernel));
    // The cache looks at its clock every so often; the system's time passes, the kernel's stands still.
    await vi.advanceTimersByTimeAsync(250);
    expect(kernel.blobs.cachedBytes).toBe(2_000);
    now += 101;
    await vi.advanceTimersByTimeAsync(250);
    expect(kernel.blobs.cachedBytes).toBe(0);
  });
});

describe("restoreMessage", () => {
  const large = "All of it. ".repeat(10_000);

  test("restoreMessage restores all large parts, inside tool results too, and leaves media as references", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    const { message } = await session.append({
      role: "tool",
      parts: [
        { type: "text", text: large },
        { type: "tool-result", callId: "1", output: [{ type: "text", text: `${large}!` }] },
        { type: "data", data: dataUrl(image(2_000)) },
      ],
    });
    expect(message.parts[0]?.type).toBe("blob");
    const restored = await kernel.blobs.restoreMessage(message);
    expect(restored.parts.slice(0, 2)).toEqual([
      { type: "text", text: large },
      { type: "tool-result", callId: "1", output: [{ type: "text", text: `${large}!` }] },
    ]);
    expect(restored.parts[2]).toEqual(message.parts[2]);
    const { message: small } = await session.append({ role: "user", text: "small" });
    expect(await kernel.blobs.restoreMessage(small)).toBe(small);
  });

  test("restoreMessage returns the preview of a part that is damaged, missing or too large", async () => {
    const { kernel, path } = await diskKernel({ limits: { maxReadBytes: 200_000 } });
    const session = await kernel.session();
    const { message } = await session.append({ role: "user", text: large });
    const [file] = filesIn(path);
    unlinkSync(join(file?.parentPath ?? "", file?.name ?? ""));
    kernel.blobs.dropCache();
    const restored = await kernel.blobs.restoreMessage(message);
    expect(restored.parts[0]).toMatchObject({
      type: "text",
      text: expect.stringContaining("missing or damaged"),
    });
    const { message: huge } = await session.append({ role: "user", text: large.repeat(3) });
    const shown = await kernel.blobs.restoreMessage(huge);
    expect(shown.parts).toEqual([{ type: "text", text: (huge.parts[0] as BlobPart).preview }]);
  });

  test("restoreMessage lets the caller decide about each part", async () => {
    const kernel = await testKernel();
    const { message } = await (await kernel.session()).append({ role: "user", text: large });
    const restored = await kernel.blobs.restoreMessage(message, (part) => ({
      type: "text",
      text: part.of ?? "",
    }));
    expect(restored.parts).toEqual([{ type: "text", text: "text" }]);
  });
});
