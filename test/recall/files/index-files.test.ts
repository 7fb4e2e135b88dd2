import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Embedder } from "../../../src/recall/embed/embedder.ts";
import { testFolder } from "../../support/folder.ts";
import { testMemory } from "../test-memory.ts";

/** An embedder that records its texts. */
function countingEmbedder(id = "test/one"): Embedder & { texts: string[] } {
  const texts: string[] = [];
  return {
    id,
    dimensions: 16,
    texts,
    embed: async (asked) => {
      texts.push(...asked);
      return asked.map((text) =>
        Array.from({ length: 16 }, (_, axis) => (text.charCodeAt(axis % text.length) % 7) - 3),
      );
    },
  };
}

function tree(files: Readonly<Record<string, string | Uint8Array>>): string {
  const root = testFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

test("files are found by their words, their path and their lines", async () => {
  const { memory } = await testMemory();
  const lines = Array.from({ length: 200 }, (_, index) => `const line${index} = ${index};`);
  lines[150] = "export function drawWombat() {}";
  const root = tree({ "src/zoo/marsupials.ts": lines.join("\n"), "readme.md": "Nothing here." });
  const { files, chunks, changed } = await memory.indexFiles([root]);
  expect([files, changed, chunks > 3]).toEqual([2, 2, true]);
  const [hit] = (await memory.recall("drawWombat")).hits;
  if (hit?.kind !== "file") throw new Error("no file");
  expect(hit.path).toBe(join(root, "src/zoo/marsupials.ts"));
  expect(hit.lines.first).toBeLessThanOrEqual(151);
  expect(hit.lines.last).toBeGreaterThanOrEqual(151);
  expect(hit.text.split("\n")[151 - hit.lines.first]).toBe(lines[150]);
  expect((await memory.recall("marsupials")).hits[0]).toMatchObject({ kind: "file" });
});

test("an unchanged tree is neither read nor embedded again, and a change costs only the changed chunks", async () => {
  const embedder = countingEmbedder();
  const { memory } = await testMemory({ embedder });
  const root = tree({
    "a.txt": "The first file speaks of herons.",
    "b.txt": "The second file speaks of storks.",
  });
  await memory.indexFiles([root]);
  expect(embedder.texts).toHaveLength(2);
  expect(await memory.indexFiles([root])).toMatchObject({ files: 2, changed: 0, removed: 0 });
  utimesSync(join(root, "a.txt"), new Date(), new Date(Date.now() + 5_000));
  expect(await memory.indexFiles([root])).toMatchObject({ changed: 0 });
  expect(embedder.texts).toHaveLength(2);
  writeFileSync(join(root, "b.txt"), "The second file speaks of cranes now.");
  expect(await memory.indexFiles([root])).toMatchObject({ changed: 1 });
  expect(embedder.texts).toHaveLength(3);
  expect((await memory.recall("cranes")).hits[0]?.text).toContain("cranes");
  writeFileSync(join(root, "b.txt"), "The second file speaks of storks.");
  await memory.indexFiles([root]);
  expect(embedder.texts.filter((text) => text.includes("storks"))).toHaveLength(1);
});

test("deleted and ignored files are forgotten, and a changed file never shows removed text", async () => {
  const { memory } = await testMemory();
  const root = tree({ "a.txt": "about gulls", "sub/b.txt": "about terns", "c.txt": "about auks" });
  await memory.indexFiles([root]);
  writeFileSync(join(root, "c.txt"), "something else");
  expect((await memory.recall("auks")).hits).toEqual([]);
  rmSync(join(root, "a.txt"));
  writeFileSync(join(root, ".longhaulignore"), "sub/");
  expect(await memory.indexFiles([root])).toMatchObject({ removed: 2 });
  expect((await memory.recall("gulls terns")).hits).toEqual([]);
});

test("binary and huge files are skipped with a reason and ignored files without one, and links never cause a loop", async () => {
  const { memory } = await testMemory();
  const root = tree({
    "image.bin": new Uint8Array([1, 0, 2, 0]),
    "huge.txt": "x ".repeat(600_000),
    ".gitignore": "*.log\n!keep.log\n",
    "noise.log": "noise",
    "keep.log": "signal",
    "node_modules/dep/index.js": "dependency",
  });
  symlinkSync(root, join(root, "loop"));
  const { files, skipped } = await memory.indexFiles([root]);
  expect(skipped.map(({ path, reason }) => [path.slice(root.length + 1), reason])).toEqual([
    ["huge.txt", "too large"],
    ["image.bin", "binary"],
  ]);
  expect(files).toBe(4);
  expect((await memory.recall("signal")).hits).toHaveLength(1);
  expect((await memory.recall("noise dependency")).hits).toEqual([]);
});

test("an interrupted indexing continues where it stopped", async () => {
  const { memory } = await testMemory();
  const root = tree(
    Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`f${index}.txt`, `word${index} here`])),
  );
  const controller = new AbortController();
  const onProgress = ({ files }: { files: number }) => {
    if (files === 7) controller.abort();
  };
  await memory.indexFiles([root], { signal: controller.signal, onProgress }).catch(() => undefined);
  const { changed } = await memory.indexFiles([root]);
  expect(changed).toBeLessThanOrEqual(20);
  expect((await memory.recall("word19")).hits[0]).toMatchObject({ path: join(root, "f19.txt") });
});

test("a watched folder is indexed again after a change", async () => {
  const { memory } = await testMemory();
  const root = tree({ "a.txt": "about plovers" });
  const rounds: (() => void)[] = [];
  const next = () => new Promise<void>((resolve) => rounds.push(resolve));
  const first = next();
  const watching = memory.watchFiles([root], { quietMs: 20, onIndexed: () => rounds.shift()?.() });
  await first;
  const second = next();
  writeFileSync(join(root, "b.txt"), "about curlews");
  await second;
  await watching.close();
  expect((await memory.recall("curlews")).hits[0]).toMatchObject({ path: join(root, "b.txt") });
});

test("files are forgotten by folder even if they no longer exist, and other files stay", async () => {
  const { memory } = await testMemory();
  const root = tree({ "old/wombat.md": "The wombat digs.", "new/quokka.md": "The quokka smiles." });
  await memory.indexFiles([root]);
  rmSync(join(root, "old"), { recursive: true });
  expect(await memory.forgetFiles([join(root, "old")])).toBe(1);
  expect((await memory.recall("wombat")).hits.some(({ text }) => text.includes("wombat"))).toBe(false);
  expect((await memory.recall("quokka")).hits[0]?.text).toContain("quokka");
  expect(await memory.forgetFiles([join(root, "ne")])).toBe(0);
});
