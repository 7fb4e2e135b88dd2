import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { exportSession, WRITERS, type Writer } from "../../src/histories/index.ts";
import { type Kernel, openKernel } from "../../src/kernel/index.ts";
import { runHere } from "../cli/support/here.ts";
import { testFolder } from "../support/folder.ts";
import { texts } from "../support/kernel.ts";
import { proofTest } from "../support/proof.ts";
import { damageBlob, damageEntry } from "./damage.ts";

const WRITER = WRITERS.find(({ name }) => name === "markdown") as Writer;
const LARGE = "large tool output\n".repeat(8_000);

/** A store whose session "s" has six messages; the fourth is a large tool result. */
async function store(): Promise<{ path: string; digest: string }> {
  const path = testFolder();
  await using kernel = await openKernel({ path });
  await using session = await kernel.session("s");
  await session.append({ role: "user", text: "one: the first message of the conversation" });
  await session.append({ role: "user", text: "two: the second message of the conversation" });
  const call = { type: "tool-call", callId: "c", name: "read", input: {} } as const;
  await session.append({ role: "assistant", parts: [call] });
  const result = await session.append({
    role: "tool",
    parts: [{ type: "tool-result", callId: "c", output: LARGE }],
  });
  await session.append({ role: "assistant", text: "five: the fifth message of the conversation" });
  await session.append({ role: "user", text: "six: the sixth message of the conversation" });
  const part = result.message.parts[0];
  const output = part?.type === "tool-result" ? part.output[0] : undefined;
  return { path, digest: output?.type === "blob" ? output.digest : "" };
}

const window = async (kernel: Kernel) => {
  const session = await kernel.session("s");
  const fitted = await session.window({ model: "claude-sonnet-4-5" }).fit();
  return JSON.stringify(fitted.messages);
};

describe("a damaged entry", () => {
  test("a damaged entry keeps its place in the session, and every other entry can be read", async () => {
    const { path } = await store();
    damageEntry(path, "s", 2);
    await using kernel = await openKernel({ path });
    await using session = await kernel.session("s");
    const { entries } = await session.page();
    expect(entries.map(({ kind }) => kind)).toEqual([
      "message",
      "damaged",
      "message",
      "message",
      "message",
      "message",
    ]);
    expect(entries[1]).toMatchObject({ id: "s#2", session: "s", seq: 2, kind: "damaged", was: "message" });
    expect(await session.entry(2)).toMatchObject({ kind: "damaged" });
    expect(await window(kernel)).toContain("five: the fifth");
    expect(await window(kernel)).not.toContain("two: the second");
  });

  test("an entry that a damaged page of the tree hides is shown as damaged and not left out", async () => {
    const { path } = await store();
    const db = new DatabaseSync(join(path, "log.db"));
    db.exec("DELETE FROM entries WHERE key & 1073741823 IN (2, 3, 5)");
    db.close();
    await using kernel = await openKernel({ path });
    await using session = await kernel.session("s");
    const kinds = async (query: object) =>
      (await session.read({ from: 1, ...query })).map(({ seq, kind }) => `${seq} ${kind}`);
    expect(await kinds({})).toEqual([
      "1 message",
      "2 damaged",
      "3 damaged",
      "4 message",
      "5 damaged",
      "6 message",
    ]);
    expect(await kinds({ limit: 2 })).toEqual(["1 message", "2 damaged"]);
  });

  test("a damaged entry can be redacted, which removes the rest of its data", async () => {
    const { path } = await store();
    damageEntry(path, "s", 2);
    await using kernel = await openKernel({ path });
    await using session = await kernel.session("s");
    await session.redact(2, "damaged");
    expect(await session.entry(2)).toMatchObject({ kind: "redacted", was: "message" });
    expect(await kernel.check()).toMatchObject({ damages: 0 });
  });

  test("a damaged entry is shown and exported as damaged, and the commands exit with code 3", async () => {
    const { path } = await store();
    damageEntry(path, "s", 2);
    const shown = await runHere(["show", "s", "--store", path]);
    expect(shown.code).toBe(3);
    expect(shown.stdout).toContain("#2 damaged message");
    expect(shown.stdout).toContain("six: the sixth");
    expect(shown.stderr).toContain("s#2 is damaged");
    const exported = await runHere(["export", "s", "--to", "markdown", "--store", path]);
    expect(exported.code).toBe(3);
    expect(exported.stdout).toContain("damaged on disk");
    expect(exported.stdout).toContain("six: the sixth");
    for (const command of ["context", "compact"])
      expect((await runHere([command, "s", "--store", path])).code, command).toBe(0);
  });

  test("when the entry that chose the active line is damaged, the line before it counts and no message is lost", async () => {
    const { path } = await store();
    {
      await using kernel = await openKernel({ path });
      await using session = await kernel.session("s");
      await session.rewind(2);
      await session.append({ role: "user", text: "another way" });
    }
    damageEntry(path, "s", 7);
    await using kernel = await openKernel({ path });
    await using session = await kernel.session("s");
    const said = texts(await session.page());
    expect(said.at(0)).toContain("one:");
    expect(said.at(-1)).toBe("another way");
    expect(said.some((text) => text.includes("six:"))).toBe(true);
    await session.append({ role: "user", text: "and on" });
    await session.rewind(2);
    expect(texts(await session.page())).toHaveLength(2);
  });

  proofTest("a damaged entry of any kind leaves the session usable", async () => {
    const { path } = await store();
    {
      await using kernel = await openKernel({ path });
      await using session = await kernel.session("s");
      await session.pin(1);
      await session.compact({});
      await session.note("a note for people, which is longer than nothing");
      await session.overlays.add({ type: "hide", ranges: [{ session: "s", from: 2, to: 2 }] }, "by hand");
      const used = session.window({ model: "claude-sonnet-4-5" });
      await used.report({ inputTokens: 10, outputTokens: 5 });
    }
    let last = 0;
    {
      await using kernel = await openKernel({ path });
      last = (await (await kernel.session("s")).head()).seq;
    }
    for (let seq = 1; seq <= last; seq++) damageEntry(path, "s", seq);
    await using kernel = await openKernel({ path });
    await using session = await kernel.session("s");
    await session.append({ role: "user", text: "what was said after all that" });
    expect(await window(kernel)).toContain("what was said after all that");
    expect((await session.overlays.list()).length).toBe(0);
    await session.compact({});
    for await (const piece of exportSession(kernel, "s", WRITER)) expect(piece.text).toBeTypeOf("string");
    expect((await kernel.memory.recall("what was said after all that")).hits[0]).toMatchObject({
      session: "s",
    });
  });
});

describe("a damaged draft", () => {
  test("a damaged draft becomes a damaged entry and does not keep the session from being opened", async () => {
    const path = testFolder();
    {
      await using kernel = await openKernel({ path });
      await kernel.session("s");
    }
    const { DatabaseSync } = await import("node:sqlite");
    const db = new DatabaseSync(join(path, "log.db"));
    db.exec("INSERT INTO drafts (id, session, owner, at, payload) VALUES ('d', 1, 'nobody|1|x', 1, x'0102')");
    db.close();
    await using kernel = await openKernel({ path });
    await using session = await kernel.session("s");
    expect((await session.page()).entries).toMatchObject([{ kind: "damaged", was: "message" }]);
  });
});

describe("a damaged blob", () => {
  test("a damaged blob leaves its preview in windows and exports", async () => {
    const { path, digest } = await store();
    damageBlob(path, digest);
    await using kernel = await openKernel({ path });
    const sent = await window(kernel);
    expect(sent).toContain("missing or damaged");
    expect(sent).toContain("large tool output");
    const exported = await runHere(["export", "s", "--to", "anthropic", "--store", path]);
    expect(exported.code).toBe(3);
    expect(JSON.parse(exported.stdout).messages).toHaveLength(5);
  });
});

describe("damaged pages of the database", () => {
  test("damaged pages of the database cost only the entries on them, and repair saves the rest", async () => {
    const path = testFolder();
    {
      await using kernel = await openKernel({ path });
      await using session = await kernel.session("s");
      for (let n = 1; n <= 400; n++)
        await session.append({ role: "user", text: `${n} ${"word ".repeat(n % 50)}` });
      await kernel.vacuum();
    }
    const file = join(path, "log.db");
    const bytes = readFileSync(file);
    // Overwrites the type byte and cell pointers of a leaf page in the middle of the entries.
    const leaves = leavesOf(bytes);
    const leaf = leaves[leaves.length >> 1] as number;
    bytes.fill(0xaa, leaf, leaf + 64);
    writeFileSync(file, bytes);
    const readable: number[] = [];
    {
      await using kernel = await openKernel({ path });
      await using session = await kernel.session("s");
      const entries = await session.read({ from: 1, limit: 1_000 });
      expect(entries).toHaveLength(400);
      for (const entry of entries) if (entry.kind === "message") readable.push(entry.seq);
      expect(readable.length).toBeGreaterThan(350);
      expect(readable.length).toBeLessThan(400);
      expect((await kernel.check()).damages).toBeGreaterThan(0);
    }
    const out = join(testFolder(), "new");
    const { code, stdout } = await runHere(["repair", "--store", path, "--out", out, "--json"]);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ sessions: 1, entries: 400 });
    await using kernel = await openKernel({ path: out });
    await using session = await kernel.session("s");
    const saved = await session.read({ from: 1, limit: 1_000 });
    expect(saved.filter(({ kind }) => kind === "message").map(({ seq }) => seq)).toEqual(readable);
    expect(await kernel.check()).toMatchObject({ entries: 400 });
    await session.append({ role: "user", text: "and on" });
  });
});

/** Offsets of table leaf pages with several cells, with 1 KB pages. */
function leavesOf(bytes: Buffer): number[] {
  const found: number[] = [];
  for (let at = 3 * 1024; at < bytes.length; at += 1024)
    if (bytes[at] === 0x0d && bytes.readUInt16BE(at + 3) >= 2) found.push(at);
  return found;
}
