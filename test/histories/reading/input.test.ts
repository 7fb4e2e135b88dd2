import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { Input } from "../../../src/histories/reading/input.ts";
import type { JsonLine } from "../../../src/histories/reading/json-lines.ts";
import { testFolder } from "../../support/folder.ts";
import { collect } from "./chunked.ts";

/** A tree with one source `task` and an unrelated neighbor. */
function makeSource() {
  const root = realpathSync(testFolder());
  const task = join(root, "task");
  mkdirSync(join(task, "inner"), { recursive: true });
  writeFileSync(join(root, "neighbour.json"), "[1]");
  const put = (name: string, content: string | Buffer) => {
    const path = join(task, name);
    writeFileSync(path, content);
    return path;
  };
  return { root, task, put, input: new Input({ root, paths: [task] }) };
}

/** Every way to read a path. */
function waysToRead(input: Input, path: string): (() => Promise<unknown>)[] {
  return [
    () => collect(input.jsonLines(path)),
    () => collect(input.jsonElements(path)),
    () => collect(input.bytes(path)),
    () => input.database(path),
    () => input.position(path, { line: 1, end: 1 }),
  ];
}

const refused = { code: "SOURCE_UNREADABLE" };

describe("the files of a source", () => {
  test("the files of a source can be read, alone or in their folder", async () => {
    const { root, task, put, input } = makeSource();
    const path = put("a.json", '{"a":1}');
    expect(await input.json(path)).toEqual({ value: { a: 1 } });
    expect(await input.text(path)).toBe('{"a":1}');
    expect((await input.folder(task))?.files).toHaveLength(1);
    expect((await input.folder(join(task, "inner")))?.files).toEqual([]);
    const alone = new Input({ root: path, paths: [path] });
    expect((await collect(alone.jsonLines(path))).flat()).toMatchObject([{ record: { a: 1 } }]);
    const both = new Input({ root, paths: [join(root, "neighbour.json"), task] });
    expect(await both.json(join(root, "neighbour.json"))).toEqual({ value: [1] });
  });

  test("an input refuses paths outside its source and its tree", async () => {
    const { root, task, input } = makeSource();
    const outside = realpathSync(testFolder());
    writeFileSync(join(outside, "a.json"), "[1]");
    const beyond = [
      join(root, "neighbour.json"),
      join(outside, "a.json"),
      `${task}/../neighbour.json`,
      `${task}/inner/../../neighbour.json`,
      "/etc/passwd",
    ];
    for (const path of beyond) {
      for (const read of waysToRead(input, path)) await expect(read()).rejects.toMatchObject(refused);
      await expect(input.text(path)).rejects.toMatchObject(refused);
    }
    for (const path of [root, outside, `${task}/..`, `${task}/inner/../..`])
      await expect(input.folder(path)).rejects.toMatchObject(refused);
    const wide = new Input({ root, paths: [task, outside] });
    await expect(wide.json(join(outside, "a.json"))).rejects.toMatchObject(refused);
  });

  test("an input refuses links, even those created after it was listed", async () => {
    const { root, task, put, input } = makeSource();
    const outside = realpathSync(testFolder());
    writeFileSync(join(outside, "a.json"), "[1]");
    const path = put("a.json", "[2]");
    expect(await input.json(path)).toEqual({ value: [2] });
    rmSync(path);
    symlinkSync(join(outside, "a.json"), path);
    for (const read of waysToRead(input, path)) await expect(read()).rejects.toMatchObject(refused);
    expect(await input.text(path)).toBeUndefined();

    writeFileSync(join(task, "inner", "b.json"), "[3]");
    expect(await input.json(join(task, "inner", "b.json"))).toEqual({ value: [3] });
    renameSync(join(task, "inner"), join(root, "moved"));
    symlinkSync(join(root, "moved"), join(task, "inner"));
    for (const read of waysToRead(input, join(task, "inner", "b.json")))
      await expect(read()).rejects.toMatchObject(refused);
    await expect(input.folder(join(task, "inner"))).rejects.toMatchObject(refused);
  });

  test("an input refuses a folder or a pipe in place of a file", async () => {
    const { task, input } = makeSource();
    const pipe = join(task, "pipe.jsonl");
    execFileSync("mkfifo", [pipe]);
    for (const path of [pipe, join(task, "inner")]) {
      for (const read of waysToRead(input, path)) await expect(read()).rejects.toMatchObject(refused);
      expect(await input.text(path)).toBeUndefined();
      expect(await input.json(path)).toBeUndefined();
    }
  });
});

describe("a small file", () => {
  test("a missing small file is undefined, and a broken or large one is a problem", async () => {
    const { task, put, root } = makeSource();
    const input = new Input({ root, paths: [task], limits: { maxRecordBytes: 100 } });
    expect(await input.json(join(task, "none.json"))).toBeUndefined();
    const broken = put("broken.json", '{"a":');
    expect(await input.json(broken)).toMatchObject({ type: "problem", path: broken, severity: "lost" });
    const large = put("large.json", JSON.stringify("x".repeat(200)));
    expect(await input.json(large)).toMatchObject({ reason: "longer than 100 bytes; not read" });
    const cut = put("cut.json.gz", gzipSync('{"a":1}').subarray(0, -9));
    expect(await input.json(cut)).toMatchObject({ type: "problem", path: cut });
    expect(await input.json(put("marked.json", '\uFEFF{"a":1}'))).toEqual({ value: { a: 1 } });
  });
});

describe("damaged compressed data", () => {
  const lines = Array.from({ length: 50 }, (_, index) => JSON.stringify({ index, text: `words ${index}` }));

  test("a damaged compressed JSONL file gives the records before the damage and one problem", async () => {
    const { put, input } = makeSource();
    const whole = gzipSync(Buffer.from(lines.join("\n")), { level: 0 });
    const path = put("a.jsonl.gz", whole.subarray(0, whole.length >> 1));
    const found = (await collect(input.jsonLines(path))).flat();
    const records = found.slice(0, -1);
    expect(records.length).toBeGreaterThan(20);
    expect(records.map(({ record }) => record)).toEqual(
      lines.slice(0, records.length).map((line) => JSON.parse(line)),
    );
    expect(found.at(-1)).toMatchObject({
      line: records.length + 1,
      problem: expect.stringContaining("cannot be unpacked further"),
    });
  });

  test("a damaged compressed JSON file gives the elements before the damage and one problem", async () => {
    const { put, input } = makeSource();
    const whole = gzipSync(Buffer.from(`[${lines.join(",\n")}]`), { level: 0 });
    const path = put("a.json.gz", whole.subarray(0, whole.length >> 1));
    const found = await collect(input.jsonElements(path));
    expect(found.length).toBeGreaterThan(20);
    expect(found.slice(0, -1).every(({ problem }) => problem === undefined)).toBe(true);
    expect(found.at(-1)).toMatchObject({
      isCut: true,
      problem: expect.stringContaining("cannot be unpacked further"),
    });
  });
});

describe("a position", () => {
  const lines = (...numbers: number[]) => numbers.map((n) => `${JSON.stringify({ n })}\n`).join("");
  const read = async (input: Input, path: string) =>
    (await collect(input.jsonLines(path))).flat() as JsonLine[];
  const numbers = (found: readonly JsonLine[]) => found.map(({ record, line }) => [record?.n, line]);

  test("a position stays valid while the file grows, and reading continues after it", async () => {
    const { put, input } = makeSource();
    const path = put("a.jsonl", lines(1, 2));
    const position = await input.position(path, (await read(input, path)).at(-1) as JsonLine);
    appendFileSync(path, lines(3, 4));
    const from = await input.validatePosition(path, position);
    expect(from).toEqual(position);
    const rest = (await collect(input.jsonLines(path, from))).flat();
    expect(numbers(rest)).toEqual([
      [3, 3],
      [4, 4],
    ]);
  });

  test("a position after a record without a line break counts that line once", async () => {
    const { put, input } = makeSource();
    const path = put("a.jsonl", lines(1, 2).trimEnd());
    const position = await input.position(path, (await read(input, path)).at(-1) as JsonLine);
    appendFileSync(path, `\n${lines(3)}`);
    const rest = (await collect(input.jsonLines(path, await input.validatePosition(path, position)))).flat();
    expect(numbers(rest)).toEqual([[3, 3]]);
  });

  test("a position is invalid once the file was rewritten, shortened or removed", async () => {
    const { put, input } = makeSource();
    const path = put("a.jsonl", lines(1, 2));
    const position = await input.position(path, (await read(input, path)).at(-1) as JsonLine);
    writeFileSync(path, lines(1, 9, 3));
    expect(await input.validatePosition(path, position)).toBeUndefined();
    writeFileSync(path, lines(1));
    expect(await input.validatePosition(path, position)).toBeUndefined();
    writeFileSync(path, lines(1, 2, 5));
    expect(await input.validatePosition(path, position)).toEqual(position);
    rmSync(path);
    expect(await input.validatePosition(path, position)).toBeUndefined();
    expect(await input.validatePosition(path, undefined)).toBeUndefined();
    expect(await input.validatePosition(path, { offset: Number.NaN, lines: 1, check: "" })).toBeUndefined();
  });

  test("a position in a compressed file stays valid while the file is unchanged", async () => {
    const { put, input } = makeSource();
    const path = put("a.jsonl.gz", gzipSync(lines(1, 2, 3)));
    const [first] = await read(input, path);
    const position = await input.position(path, first as JsonLine);
    const rest = (await collect(input.jsonLines(path, await input.validatePosition(path, position)))).flat();
    expect(numbers(rest)).toEqual([
      [2, 2],
      [3, 3],
    ]);
    utimesSync(path, 1, 1);
    expect(await input.validatePosition(path, position)).toBeUndefined();
  });
});

test("an input reports the bytes it has read", async () => {
  const { task, put, root } = makeSource();
  let count = 0;
  const onBytes = (bytes: number) => {
    count += bytes;
  };
  const input = new Input({ root, paths: [task], onBytes });
  await collect(input.jsonLines(put("a.jsonl", '{"a":1}\n')));
  expect(count).toBe(8);
});

test.each(["utf8", "utf16le"] as const)(
  "the position at the end of a file in %s is known without reopening the file",
  async (encoding) => {
    const { root, task, put, input } = makeSource();
    const text = `${JSON.stringify({ number: 1, words: "word ".repeat(400) })}\n`;
    const path = put("lines.jsonl", Buffer.from(text.repeat(3), encoding));
    const last = (await collect(input.jsonLines(path))).flat().at(-1) as JsonLine;
    const fresh = await new Input({ root, paths: [task] }).position(path, last);
    expect(await input.position(path, last)).toEqual(fresh);
    expect(await new Input({ root, paths: [task] }).validatePosition(path, fresh)).toEqual(fresh);
    if (encoding !== "utf8") return;
    rmSync(path);
    expect(await input.position(path, last)).toEqual(fresh);
  },
);
