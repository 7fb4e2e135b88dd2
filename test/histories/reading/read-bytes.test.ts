import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { isDamageError } from "../../../src/histories/reading/damage-error.ts";
import { type BytesOptions, readBytes } from "../../../src/histories/reading/read-bytes.ts";
import { READ_LIMITS } from "../../../src/histories/reading/read-limits.ts";
import { testFolder } from "../../support/folder.ts";

/** Writes a file and reads it. */
async function read(
  name: string,
  content: string | Uint8Array,
  options: Partial<BytesOptions> = {},
): Promise<Buffer> {
  const path = join(testFolder(), name);
  writeFileSync(path, content);
  return readPath(path, options);
}

async function readPath(path: string, options: Partial<BytesOptions> = {}): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const chunk of readBytes(path, { limits: READ_LIMITS, ...options }))
    pieces.push(Buffer.from(chunk));
  return Buffer.concat(pieces);
}

/** Compares without printing megabytes. */
function expectSame(bytes: Buffer, expected: Buffer): void {
  expect([bytes.length, bytes.equals(expected)]).toEqual([expected.length, true]);
}

/** Text of several chunks that does not compress well. */
const long = Buffer.from(
  Array.from({ length: 60_000 }, (_, index) => `{"n":${index},"r":"${(index * 7919) % 104729}ä"}\n`).join(""),
);
const packers = { gz: gzipSync, zst: zstdCompressSync };

describe("the bytes of a file", () => {
  test("the bytes of a file are read from any offset", async () => {
    expectSame(await read("a.jsonl", long), long);
    expectSame(await read("a.jsonl", long, { chunkBytes: 1_000 }), long);
    expectSame(await read("a.jsonl", long, { from: 1_234_567 }), long.subarray(1_234_567));
    expectSame(await read("a.jsonl", long, { from: long.length + 5 }), Buffer.alloc(0));
    expectSame(await read("a.jsonl", ""), Buffer.alloc(0));
  });

  test.each(["gz", "zst"] as const)(
    "a file compressed as .%s is decompressed from any offset",
    async (ending) => {
      const packed = packers[ending](long);
      expectSame(await read(`a.jsonl.${ending}`, packed), long);
      expectSame(await read(`a.jsonl.${ending.toUpperCase()}`, packed), long);
      expectSame(await read(`a.jsonl.${ending}`, packed, { from: 1_234_567 }), long.subarray(1_234_567));
      expectSame(await read(`a.${ending}`, Buffer.concat([packed, packed])), Buffer.concat([long, long]));
      const small = packers[ending](Buffer.from("words\n"));
      const many = Buffer.concat(Array.from({ length: 30 }, () => small));
      expect((await read(`a.${ending}`, many)).toString()).toBe("words\n".repeat(30));
    },
  );

  test("UTF-16 becomes UTF-8, with or without a byte order mark, even in compressed files", async () => {
    const text = '{"a":"größer 𝄞"}\n{"b":1}\n';
    const little = Buffer.from(text, "utf16le");
    const big = Buffer.from(little).swap16();
    const marked = Buffer.from(`\uFEFF${text}`, "utf16le");
    for (const bytes of [little, big, marked, Buffer.from(marked).swap16()]) {
      expect((await read("a.jsonl", bytes)).toString()).toBe(text);
      expect((await read("a.jsonl", bytes, { chunkBytes: 3 })).toString()).toBe(text);
      expect((await read("a.jsonl.gz", gzipSync(bytes))).toString()).toBe(text);
      expect((await read("a.jsonl", bytes, { from: 20 })).toString()).toBe(
        Buffer.from(text).subarray(20).toString(),
      );
    }
    expect((await read("a.jsonl", Buffer.from("ÿþ", "latin1"))).length).toBe(0);
    expect((await read("a.jsonl", "{")).toString()).toBe("{");
  });

  test("the bytes of a file are read in chunks of bounded size", async () => {
    const path = join(testFolder(), "a.jsonl");
    writeFileSync(path, Buffer.alloc(5_000_000, 65));
    let largest = 0;
    for await (const chunk of readBytes(path, { limits: READ_LIMITS }))
      largest = Math.max(largest, chunk.length);
    expect(largest).toBeLessThanOrEqual(1024 * 1024);
  });

  test("reading the bytes of a file stops at the signal", async () => {
    const folder = testFolder();
    for (const [name, content] of [
      ["a.jsonl", long],
      ["a.jsonl.gz", gzipSync(long)],
    ] as const) {
      const controller = new AbortController();
      writeFileSync(join(folder, name), content);
      const chunks = readBytes(join(folder, name), { limits: READ_LIMITS, signal: controller.signal });
      await chunks.next();
      controller.abort(new Error("enough"));
      await expect(chunks.next()).rejects.toThrow("enough");
    }
  });
});

describe("a compressed file", () => {
  test.each(["gz", "zst"] as const)(
    "a compressed file (.%s) that is cut gives all bytes before the cut",
    async (ending) => {
      const packed = packers[ending](long);
      const path = join(testFolder(), `a.jsonl.${ending}`);
      for (const share of [0, 0.3, 0.7, 1]) {
        writeFileSync(path, packed.subarray(0, Math.floor((packed.length - 1) * share)));
        const pieces: Buffer[] = [];
        const reading = (async () => {
          for await (const chunk of readBytes(path, { limits: READ_LIMITS })) pieces.push(Buffer.from(chunk));
        })();
        await expect(reading).rejects.toSatisfy(isDamageError);
        await expect(reading).rejects.toMatchObject({ code: "SOURCE_UNREADABLE", details: { path } });
        const got = Buffer.concat(pieces);
        expect(got.equals(long.subarray(0, got.length))).toBe(true);
        expect(got.length).toBeGreaterThanOrEqual(long.length * (share - 0.1));
      }
    },
  );

  test.each(["gz", "zst"] as const)(
    "a compressed file with other content is damaged, as .%s",
    async (ending) => {
      await expect(read(`a.${ending}`, "plain words")).rejects.toSatisfy(isDamageError);
    },
  );

  test.each(["gz", "zst"] as const)(
    "a compressed file that grows beyond the limit is abandoned, as .%s",
    async (ending) => {
      const bomb = packers[ending](Buffer.alloc(30_000_000));
      const limits = { ...READ_LIMITS, maxExpansion: 20, freeExpansionBytes: 2_000_000 };
      const path = join(testFolder(), `a.${ending}`);
      writeFileSync(path, bomb);
      let unpacked = 0;
      const reading = (async () => {
        for await (const chunk of readBytes(path, { limits })) unpacked += chunk.length;
      })();
      await expect(reading).rejects.toMatchObject({
        code: "SOURCE_UNREADABLE",
        message: expect.stringContaining("grows more than 20 times"),
      });
      await expect(reading).rejects.not.toSatisfy(isDamageError);
      expect(unpacked).toBeLessThanOrEqual(2_000_000);
      expect((await read(`b.${ending}`, bomb, { limits: { ...limits, maxExpansion: 1e6 } })).length).toBe(
        30_000_000,
      );
    },
  );

  test("reading a compressed file may stop at any time", async () => {
    for (const ending of ["gz", "zst"] as const) {
      const path = join(testFolder(), `a.${ending}`);
      writeFileSync(path, packers[ending](long));
      for await (const chunk of readBytes(path, { limits: READ_LIMITS })) {
        expect(chunk.length).toBeGreaterThan(0);
        break;
      }
    }
  });
});

test("an error of the disk reaches the reader with the next chunk, and not before", async () => {
  const path = join(testFolder(), "long.jsonl");
  writeFileSync(path, "12345678");
  const probe = await open(path);
  const files: FileHandle = Object.getPrototypeOf(probe);
  await probe.close();
  const { read } = files;
  let reads = 0;
  // Replaced by hand: a spy would report the rejection itself.
  files.read = function (this: FileHandle, ...args: unknown[]) {
    return ++reads === 1 ? Reflect.apply(read, this, args) : Promise.reject(new Error("EIO"));
  };
  onTestFinished(() => {
    files.read = read;
  });
  const chunks = readBytes(path, { limits: READ_LIMITS, chunkBytes: 4 });
  expect(String((await chunks.next()).value)).toBe("1234");
  await new Promise((resolve) => setImmediate(resolve));
  await expect(chunks.next()).rejects.toThrow("EIO");
});

describe("a path without a plain file", () => {
  const refused = { code: "SOURCE_UNREADABLE" };

  test("a link, a folder, a pipe and a missing file are refused", async () => {
    const folder = testFolder();
    writeFileSync(join(folder, "real.jsonl"), "{}\n");
    for (const ending of ["", ".gz"]) {
      const [link, inner, pipe, missing] = ["link", "folder", "pipe", "missing"].map((name) =>
        join(folder, `${name}.jsonl${ending}`),
      ) as [string, string, string, string];
      symlinkSync(join(folder, "real.jsonl"), link);
      mkdirSync(inner);
      execFileSync("mkfifo", [pipe]);
      for (const path of [link, inner, pipe, missing])
        await expect(readPath(path)).rejects.toMatchObject(refused);
    }
  });

  const descriptors = "/proc/self/fd";
  test.skipIf(!existsSync(descriptors))("a refused path leaves no file open", async () => {
    const opened = () => readdirSync(descriptors).length;
    const folder = testFolder();
    await expect(readPath(folder)).rejects.toMatchObject(refused);
    const before = opened();
    for (let round = 0; round < 20; round++) await expect(readPath(folder)).rejects.toMatchObject(refused);
    expect(opened()).toBeLessThanOrEqual(before);
  });
});
