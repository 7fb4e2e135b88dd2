import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Format, ImportSource } from "../../src/histories/port/format.ts";
import type { Folder } from "../../src/histories/reading/folder.ts";
import { testFolder } from "../support/folder.ts";
import { findingProblems, readAll, sourcesAt } from "../support/items.ts";

/** A format that claims every file with an ending, or whole folders by name. */
function takes(choose: (folder: Folder) => readonly string[], asked: string[] = []): Format {
  return {
    name: "pi",
    title: "Test",
    processes: [],
    homes: () => [],
    async detect(folder) {
      asked.push(folder.path);
      return choose(folder).map(
        (path): ImportSource => ({
          format: "pi",
          id: path,
          path,
          paths: [path],
          sizeBytes: 0,
          modifiedAt: 0,
        }),
      );
    },
    async *read(source, input) {
      for await (const lines of input.jsonLines(source.path))
        for (const { line, record } of lines)
          yield { type: "record", id: `L${line}`, body: { kind: "notice", text: JSON.stringify(record) } };
    },
  };
}

const ending = (suffix: string, asked?: string[]) =>
  takes(({ files }) => files.filter(({ name }) => name.endsWith(suffix)).map(({ path }) => path), asked);
const folderNamed = (wanted: string) => takes(({ name, path }) => (name === wanted ? [path] : []));

function tree(...paths: string[]): string {
  const root = realpathSync(testFolder());
  for (const path of paths) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), "{}\n");
  }
  return root;
}

describe("looking for conversations", () => {
  test("the search walks the whole tree in order and skips folders without conversations", async () => {
    const root = tree("b.x", "a/2.x", "a/1.x.gz", "a/deep/er/3.x", "node_modules/p/4.x", ".git/5.x", "z.y");
    const found = await sourcesAt([root], [ending(".x")]);
    expect(found.map(({ source }) => source.path.slice(root.length + 1))).toEqual([
      "b.x",
      "a/1.x.gz",
      "a/2.x",
      "a/deep/er/3.x",
    ]);
    expect(found.every((one) => one.root === root)).toBe(true);
  });

  test("the search accepts a single file", async () => {
    const root = tree("a.x", "b.x");
    const all = await readAll([join(root, "a.x")], [ending(".x")]);
    expect(all).toMatchObject([
      { source: { path: join(root, "a.x") }, items: [{ id: "L1", body: { text: "{}" } }] },
    ]);
  });

  test("the search gives a claimed file to one format only, and returns nothing twice", async () => {
    const root = tree("a.x", "task/b.x", "task/deep/c.x", "d.x");
    const first = folderNamed("task");
    const found = await sourcesAt(
      [root, root, join(root, "a.x"), join(root, "task", "b.x"), join(root, "task", "deep")],
      [first, ending(".x")],
    );
    expect(found.map(({ source }) => source.path.slice(root.length + 1))).toEqual(["a.x", "d.x", "task"]);
    expect(found.at(-1)?.format).toBe(first);
  });

  test("the search never leaves the tree: it follows no links, and reports those that lead outside", async () => {
    const outside = tree("secret.x");
    const root = tree("a/b.x");
    symlinkSync(outside, join(root, "out"));
    symlinkSync(join(outside, "secret.x"), join(root, "secret.x"));
    symlinkSync(root, join(root, "a", "loop"));
    const asked: string[] = [];
    const found = await sourcesAt([root], [ending(".x", asked)]);
    expect(found.map(({ source }) => source.path)).toEqual([join(root, "a/b.x")]);
    expect(asked).toEqual([root, join(root, "a")]);
    expect((await findingProblems([root], [])).map(({ path }) => path)).toEqual([
      join(root, "out"),
      join(root, "secret.x"),
    ]);
  });

  test("the search follows a link that the user names", async () => {
    const root = tree("a.x");
    const link = join(testFolder(), "link");
    symlinkSync(root, link);
    expect((await sourcesAt([link], [ending(".x")])).map(({ source }) => source.path)).toEqual([
      join(root, "a.x"),
    ]);
  });

  test("the search opens no pipes, and reports a pipe that is named", async () => {
    const root = tree("a.x");
    execFileSync("mkfifo", [join(root, "pipe.x")]);
    expect(await sourcesAt([root], [ending(".x")])).toHaveLength(1);
    expect(await findingProblems([join(root, "pipe.x")], [ending(".x")])).toMatchObject([
      { path: join(root, "pipe.x"), severity: "lost" },
    ]);
  });

  test("the search stops at a depth that no tool uses, and reports it", async () => {
    const deep = Array.from({ length: 30 }, () => "d").join("/");
    const root = tree(`${deep}/a.x`, "b.x");
    expect(await sourcesAt([root], [ending(".x")])).toHaveLength(1);
    expect(await findingProblems([root], [])).toMatchObject([
      { reason: "more than 24 folders deep; what is below was not looked at" },
    ]);
  });

  test("the search continues with the next format if one fails", async () => {
    const root = tree("a.x", "sub/b.x");
    const failing = takes(() => {
      throw new Error("a broken database");
    });
    expect(await sourcesAt([root], [failing, ending(".x")])).toHaveLength(2);
    expect(await findingProblems([root], [failing])).toMatchObject([
      { path: root, reason: "cannot be searched for conversations of Test: a broken database" },
      { path: join(root, "sub") },
    ]);
  });

  test("the search fails for a path that does not exist", async () => {
    const missing = join(testFolder(), "missing");
    await expect(sourcesAt([missing], [])).rejects.toMatchObject({
      code: "SOURCE_UNREADABLE",
      details: { path: missing },
    });
  });
});
