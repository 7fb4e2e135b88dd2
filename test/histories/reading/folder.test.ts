import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type Folder, listFolder, readFileFacts } from "../../../src/histories/reading/folder.ts";
import type { ProblemItem } from "../../../src/histories/reading/item.ts";
import { testFolder } from "../../support/folder.ts";

/** Creates a folder with files, by path. */
function tree(files: Readonly<Record<string, string | Buffer>>): string {
  const root = realpathSync(testFolder());
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

async function list(
  path: string,
  root = path,
): Promise<{ folder: Folder | undefined; problems: ProblemItem[] }> {
  const problems: ProblemItem[] = [];
  const report = (problem: ProblemItem) => void problems.push(problem);
  return { folder: await listFolder(path, { root, isClaimed: () => false, report }), problems };
}

describe("a folder", () => {
  test("a folder lists its subfolders, and its files under the names of the tool", async () => {
    const root = tree({ "b.jsonl.gz": "12345", "a.json": "", "c.ZST": "", "sub/d.json": "" });
    const { folder, problems } = await list(root);
    expect(folder?.files.map(({ name, sizeBytes }) => [name, sizeBytes])).toEqual([
      ["a.json", 0],
      ["b.jsonl", 5],
      ["c", 0],
    ]);
    expect(folder?.folders).toEqual(["sub"]);
    expect(problems).toEqual([]);
    expect((await folder?.folder("sub"))?.files.map(({ name }) => name)).toEqual(["d.json"]);
    expect(await folder?.folder("nowhere")).toBeUndefined();
    expect(await folder?.folder("a.json")).toBeUndefined();
  });

  test("a folder leaves out pipes and inner links, and reports links that lead outside", async () => {
    const outside = tree({ "secret.jsonl": "{}" });
    const root = tree({ "a.json": "", "sub/b.json": "" });
    execFileSync("mkfifo", [join(root, "pipe.jsonl")]);
    symlinkSync(join(root, "a.json"), join(root, "inside.json"));
    symlinkSync(join(outside, "secret.jsonl"), join(root, "out.jsonl"));
    symlinkSync(outside, join(root, "outside"));
    symlinkSync(root, join(root, "loop"));
    symlinkSync(join(root, "gone"), join(root, "dangling"));
    const { folder, problems } = await list(root);
    expect(folder?.files.map(({ name }) => name)).toEqual(["a.json"]);
    expect(folder?.folders).toEqual(["sub"]);
    expect(problems.map(({ path, reason }) => [path, reason])).toEqual(
      ["out.jsonl", "outside"].map((name) => [
        join(root, name),
        "a link that leads out of the given path; not followed",
      ]),
    );
  });

  test("a folder outside the tree or behind a link is refused", async () => {
    const root = tree({ "inner/sub/a.json": "", "other/b.json": "" });
    symlinkSync(join(root, "inner/sub"), join(root, "inner/link"));
    const { folder } = await list(join(root, "inner"));
    expect(await folder?.folder("../other")).toBeUndefined();
    expect(await folder?.folder("link")).toBeUndefined();
    expect(await folder?.folder("sub")).toBeDefined();
  });

  test("a folder that cannot be listed is a problem", async () => {
    const root = tree({ "a.json": "" });
    for (const name of ["a.json", "nowhere"]) {
      const { folder, problems } = await list(join(root, name));
      expect(folder).toBeUndefined();
      expect(problems).toMatchObject([{ path: join(root, name), severity: "lost" }]);
    }
    if (process.getuid?.() === 0) return;
    chmodSync(root, 0o000);
    expect((await list(root)).problems).toHaveLength(1);
    chmodSync(root, 0o700);
  });

  test("the head of a file is shown decompressed, as UTF-8, without a byte order mark, as far as it is readable", async () => {
    const text = `{"type":"session"}\n${"x".repeat(100_000)}`;
    const packed = gzipSync(Buffer.from(text));
    const root = tree({
      "a.jsonl": `\uFEFF${text}`,
      "b.jsonl.gz": packed,
      "c.jsonl.gz": packed.subarray(0, -20),
      "d.jsonl.gz": "no gzip",
      "e.jsonl": Buffer.from(text, "utf16le"),
    });
    const { folder } = await list(root);
    const heads = await Promise.all((folder as Folder).files.map((file) => (folder as Folder).head(file)));
    for (const head of [heads[0], heads[1], heads[2], heads[4]])
      expect(head).toMatch(/^{"type":"session"}\nxxx/);
    expect(heads[0]).toHaveLength(64 * 1024 - 1 - 2);
    expect(heads[1]).toHaveLength(64 * 1024);
    expect(heads[3]).toBe("");
  });

  test("the head of a file is not shown once a link has replaced the file", async () => {
    const outside = tree({ "secret.jsonl": "secret" });
    const root = tree({ "a.jsonl": "{}" });
    const { folder } = await list(root);
    execFileSync("ln", ["-sf", join(outside, "secret.jsonl"), join(root, "a.jsonl")]);
    const [file] = (folder as Folder).files;
    expect(file && (await (folder as Folder).head(file))).toBe("");
    expect(await readFileFacts(join(root, "a.jsonl"))).toBeUndefined();
  });
});
