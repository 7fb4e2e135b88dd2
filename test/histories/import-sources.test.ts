import { appendFileSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { importSources, surveySources } from "../../src/histories/import-sources.ts";
import { createDeletionTest } from "../../src/histories/importing/import-source.ts";
import type { Item, RecordItem } from "../../src/histories/reading/item.ts";
import type { Entry, Kernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { diskKernel, testKernel, texts } from "../support/kernel.ts";
import { toyFormat } from "../support/toy-format.ts";

const formats = [toyFormat];
const lines = (items: readonly Item[]) => items.map((item) => `${JSON.stringify(item)}\n`).join("");
const said = (id: string, text: string, more: Partial<RecordItem> = {}): RecordItem => ({
  type: "record",
  id,
  body: { kind: "message", message: { role: "user", text } },
  ...more,
});

async function lineOf(kernel: Kernel, id: string): Promise<string[]> {
  await using session = await kernel.session(id);
  return texts(await session.page({ kinds: ["message"] }));
}

async function logOf(kernel: Kernel, id: string): Promise<readonly Entry[]> {
  await using session = await kernel.session(id);
  return session.read({ from: 1 });
}

describe("importing", () => {
  test("an import stores every record once, and later only new ones", async () => {
    const kernel = await testKernel();
    const file = join(testFolder(), "talk.toy");
    writeFileSync(file, lines([said("a", "one", { at: 1_000 }), said("b", "two", { at: 2_000 })]));
    const first = await importSources(kernel, [file], { formats });
    expect(first.totals).toMatchObject({ sources: 1, added: { messages: 2 }, lost: 0, damaged: 0 });
    expect((await logOf(kernel, "pi/talk")).map(({ at }) => at)).toEqual([1_000, 2_000]);

    const again = await importSources(kernel, [file], { formats });
    expect(again.sources[0]).toMatchObject({ status: "unchanged", bytesRead: 0 });

    appendFileSync(file, lines([said("c", "three", { at: 3_000 })]));
    const later = await importSources(kernel, [file], { formats });
    expect(later.totals.added.messages).toBe(1);
    expect(await lineOf(kernel, "pi/talk")).toEqual(["one", "two", "three"]);
  });

  test("an import leaves out a conversation that was deleted here, until its agent goes on with it", async () => {
    const kernel = await testKernel();
    const file = join(testFolder(), "talk.toy");
    writeFileSync(file, lines([said("a", "one")]));
    await importSources(kernel, [file], { formats });
    await kernel.deleteSession("pi/talk", { by: "cli:ann" });
    expect(await kernel.team.audit()).toMatchObject([
      { actor: "cli:ann", act: "session.delete", target: "pi/talk" },
    ]);

    const left = await importSources(kernel, [file], { formats });
    expect(left.sources).toMatchObject([{ status: "forgotten", added: { messages: 0 } }]);
    expect(await kernel.find("pi/talk")).toBeUndefined();
    const wanted = await importSources(kernel, [file], { formats, withForgotten: true });
    expect(wanted.totals.added.messages).toBe(1);
    // It is stored again, so that the deletion no longer counts.
    expect((await importSources(kernel, [file], { formats })).sources).toMatchObject([
      { status: "unchanged" },
    ]);

    await kernel.deleteSession("pi/talk");
    appendFileSync(file, lines([said("b", "two")]));
    const later = new Date(Date.now() + 60_000);
    utimesSync(file, later, later);
    await importSources(kernel, [file], { formats });
    expect(await lineOf(kernel, "pi/talk")).toEqual(["one", "two"]);
  });

  test("a deletion counts at once for an import that runs already", async () => {
    const kernel = await testKernel();
    const file = join(testFolder(), "talk.toy");
    writeFileSync(file, lines([said("a", "one")]));
    await importSources(kernel, [file], { formats });
    const { sources } = await surveySources([file], { formats });
    const isDeleted = createDeletionTest(kernel);
    const ask = () => Promise.all(sources.map(({ source }) => isDeleted(source)));
    expect(await ask()).toEqual([false]);
    await kernel.deleteSession("pi/talk");
    expect(await ask()).toEqual([true]);
  });

  test("an import recognizes known records after the source was rewritten or moved", async () => {
    const kernel = await testKernel();
    const folder = testFolder();
    writeFileSync(join(folder, "talk.toy"), lines([said("a", "one"), said("b", "two")]));
    await importSources(kernel, [folder], { formats });
    rmSync(join(folder, "talk.toy"));
    mkdirSync(join(folder, "archive"));
    const moved = lines([
      { type: "session", title: "Moved" },
      said("a", "one"),
      said("b", "two"),
      said("c", "three"),
    ]);
    writeFileSync(join(folder, "archive", "talk.toy"), moved);
    const report = await importSources(kernel, [folder], { formats });
    expect(report.totals.added.messages).toBe(1);
    expect(report.totals.found.messages).toBe(3);
    expect(await lineOf(kernel, "pi/talk")).toEqual(["one", "two", "three"]);
    expect((await kernel.find("pi/talk"))?.title).toBe("Moved");
  });

  test("an import makes the last branch the active line, and keeps the others in the log", async () => {
    const kernel = await testKernel();
    const file = join(testFolder(), "talk.toy");
    writeFileSync(
      file,
      lines([said("a", "ask", { at: 1_000 }), said("b", "wrong"), said("c", "right", { parent: "a" })]),
    );
    await importSources(kernel, [file], { formats });
    expect(await lineOf(kernel, "pi/talk")).toEqual(["ask", "right"]);
    expect((await logOf(kernel, "pi/talk")).filter(({ kind }) => kind === "message")).toHaveLength(3);

    appendFileSync(file, lines([said("d", "more", { at: 4_000 })]));
    await importSources(kernel, [file], { formats });
    expect((await logOf(kernel, "pi/talk")).at(-1)).toMatchObject({ at: 4_000 });
    expect(await lineOf(kernel, "pi/talk")).toEqual(["ask", "right", "more"]);
    expect((await logOf(kernel, "pi/talk")).filter(({ kind }) => kind === "line")).toHaveLength(1);
  });

  test("an import does not change a line that the user has chosen since", async () => {
    const kernel = await testKernel();
    const file = join(testFolder(), "talk.toy");
    writeFileSync(file, lines([said("a", "one"), said("b", "two")]));
    await importSources(kernel, [file], { formats });
    await using session = await kernel.session("pi/talk");
    await session.rewind(1);
    appendFileSync(file, lines([said("c", "three")]));
    await importSources(kernel, [file], { formats });
    expect(await lineOf(kernel, "pi/talk")).toEqual(["one", "three"]);
  });

  test("an import replaces a record by its newer version", async () => {
    const kernel = await testKernel();
    const file = join(testFolder(), "talk.toy");
    const items = [
      said("a", "draft", { version: "1" }),
      said("b", "next"),
      said("a", "final", { version: "2" }),
    ];
    writeFileSync(file, lines(items));
    const { totals } = await importSources(kernel, [file], { formats });
    expect(totals.found.messages).toBe(2);
    expect(await lineOf(kernel, "pi/talk")).toEqual(["final", "next"]);
  });

  test("an import keeps a second record with a used id if its content differs, and reports it", async () => {
    const kernel = await testKernel();
    const file = join(testFolder(), "talk.toy");
    writeFileSync(file, lines([said("a", "one"), said("a", "one"), said("a", "other")]));
    const report = await importSources(kernel, [file], { formats });
    expect(await lineOf(kernel, "pi/talk")).toEqual(["one", "other"]);
    expect(report.totals).toMatchObject({ damaged: 1, found: { messages: 2 } });
    expect(report.totals.copiedBytes).toBeGreaterThan(0);
    expect(report.problems[0]?.reason).toContain("a~2");
  });

  test("an import treats results of one id as equal only if their content is equal, even in blobs", async () => {
    const kernel = await testKernel({ path: ":memory:", limits: { spillBytes: 1_000 } });
    const file = join(testFolder(), "talk.toy");
    const result = (text: string): RecordItem => ({
      type: "record",
      id: "r",
      body: {
        kind: "message",
        message: { role: "tool", parts: [{ type: "tool-result", callId: "c", output: text }] },
      },
    });
    const raw = (value: string): RecordItem => ({ type: "record", id: "w", body: { kind: "raw", value } });
    const filler = Array.from({ length: 600 }, (_, index) => said(`f${index}`, `filler ${index}`));
    const long = "long ".repeat(1_000);
    const items = [
      result(long),
      raw("seen"),
      ...filler,
      result(long),
      result(`${long}!`),
      raw("seen"),
      raw("other"),
    ];
    writeFileSync(file, lines(items));
    const { totals } = await importSources(kernel, [file], { formats });
    expect(totals).toMatchObject({ damaged: 2, found: { toolResults: 2, raw: 2, messages: 602 } });
  });

  test("an import reports missing and circular parents, and keeps the records", async () => {
    const kernel = await testKernel();
    const file = join(testFolder(), "talk.toy");
    const items = [
      said("a", "one", { parent: "b" }),
      said("b", "two", { parent: "a" }),
      said("c", "three", { parent: "c" }),
    ];
    writeFileSync(file, lines(items));
    const { totals } = await importSources(kernel, [file], { formats });
    expect(totals.damaged).toBe(2);
    expect(await lineOf(kernel, "pi/talk")).toEqual(["one", "two", "three"]);
  });

  test("an import turns edits of the other tool into overlays on the matching entries", async () => {
    const kernel = await testKernel();
    const file = join(testFolder(), "talk.toy");
    const overlay = (
      id: string,
      edit: Extract<RecordItem["body"], { kind: "overlay" }>["edit"],
    ): RecordItem => ({
      type: "record",
      id,
      body: { kind: "overlay", edit, reason: "why" },
    });
    writeFileSync(
      file,
      lines([
        said("a", "one"),
        said("b", "two"),
        overlay("e1", {
          type: "replace",
          target: { record: "b", part: 0 },
          parts: [{ type: "text", text: "stub" }],
        }),
        overlay("e2", { type: "hide", spans: [{ from: "a", through: "b" }] }),
        overlay("e3", { type: "summarize", spans: [{}], messages: [{ role: "user", text: "in short" }] }),
        overlay("e4", { type: "hide", spans: [{ from: "nowhere", through: "b" }] }),
      ]),
    );
    await importSources(kernel, [file], { formats });
    const edits = (await logOf(kernel, "pi/talk")).flatMap((entry) =>
      entry.kind === "overlay" ? [entry.edit] : [],
    );
    const session = "pi/talk";
    expect(edits).toEqual([
      { type: "replace", target: { seq: 2, part: 0 }, parts: [{ type: "text", text: "stub" }] },
      { type: "hide", ranges: [{ session, from: 1, to: 2 }] },
      {
        type: "summarize",
        ranges: [{ session, from: 1, to: 4 }],
        messages: [{ role: "user", parts: [{ type: "text", text: "in short" }] }],
      },
    ]);
    expect((await logOf(kernel, "pi/talk")).at(-1)).toMatchObject({ kind: "raw", format: "pi" });
  });

  test("an import makes child sessions of sub-agents, inside a source or next to it", async () => {
    const kernel = await testKernel();
    const folder = testFolder();
    writeFileSync(join(folder, "talk+beside.toy"), lines([said("x", "beside")]));
    const items = [said("a", "one"), said("k", "inside", { child: "helper" }), said("b", "two")];
    writeFileSync(join(folder, "talk.toy"), lines(items));
    const report = await importSources(kernel, [folder], { formats });
    expect(report.sources.map(({ id }) => id)).toEqual(["talk", "talk+beside"]);
    expect(report.sources[0]?.found).toMatchObject({ messages: 3, children: 1 });
    expect(await lineOf(kernel, "pi/talk")).toEqual(["one", "two"]);
    expect(await lineOf(kernel, "pi/talk/helper")).toEqual(["inside"]);
    expect((await kernel.find("pi/talk/helper"))?.parent).toBe("pi/talk");
    expect((await kernel.find("pi/talk+beside"))?.parent).toBe("pi/talk");
  });

  test("an import shows the original time of a message where times of the source decrease", async () => {
    const kernel = await testKernel({ path: ":memory:", embedder: null });
    const file = join(testFolder(), "talk.toy");
    writeFileSync(
      file,
      lines([
        said("a", "The gateway speaks German.", { at: 50_000_000 }),
        said("b", "The walrus speaks French.", { at: 4_000_000 }),
        said("c", "The otter is silent."),
      ]),
    );
    await importSources(kernel, [file], { formats });
    const log = await logOf(kernel, "pi/talk");
    expect(log.map(({ at }) => at)).toEqual([50_000_000, 4_000_000, 50_000_000]);
    const { hits } = await kernel.memory.recall("which language does the walrus speak?");
    expect(hits.find(({ text }) => text.includes("walrus"))).toMatchObject({ at: 4_000_000 });
    await using session = await kernel.session("pi/talk");
    const { entries } = await session.page();
    expect(entries.map(({ at }) => at)).toEqual([50_000_000, 4_000_000, 50_000_000]);
    expect(await session.entry(new Date(4_000_000))).toMatchObject({ seq: 2 });
    expect((await session.head()).at).toBe(50_000_000);
  });

  test("an import gives a record without a time the time of the next record", async () => {
    const kernel = await testKernel();
    const file = join(testFolder(), "talk.toy");
    writeFileSync(
      file,
      lines([said("a", "one"), said("b", "two", { at: 4_000 }), said("c", "three", { at: 5_000 })]),
    );
    await importSources(kernel, [file], { formats });
    expect((await logOf(kernel, "pi/talk")).map(({ at }) => at)).toEqual([4_000, 4_000, 5_000]);
    expect((await kernel.find("pi/talk"))?.createdAt).toBe(4_000);
  });

  test("an import stores a record beyond the entry limit as raw, in a blob", async () => {
    const kernel = await testKernel({
      path: ":memory:",
      limits: { maxEntryBytes: 20_000, spillBytes: 10_000 },
    });
    const file = join(testFolder(), "talk.toy");
    const parts = Array.from({ length: 50 }, (_, index) => ({
      type: "text" as const,
      text: `${index}`.repeat(900),
    }));
    const large: RecordItem = {
      type: "record",
      id: "a",
      body: { kind: "message", message: { role: "user", parts } },
    };
    writeFileSync(file, lines([large, said("b", "two")]));
    const { totals } = await importSources(kernel, [file], { formats });
    expect(totals).toMatchObject({ damaged: 1, added: { raw: 1, messages: 1 } });
  });

  test("an import reports broken lines by file and number, and keeps the good ones", async () => {
    const kernel = await testKernel();
    const file = join(testFolder(), "talk.toy");
    writeFileSync(
      file,
      `${lines([said("a", "one")])}{"type": oops}\n${lines([said("b", "two")])}{"type":"rec`,
    );
    const report = await importSources(kernel, [file], { formats });
    expect(await lineOf(kernel, "pi/talk")).toEqual(["one", "two"]);
    expect(report.totals.lost).toBe(2);
    expect(report.problems.map(({ line }) => line)).toEqual([2, 4]);

    appendFileSync(file, lines([said("c", "three")]).slice('{"type":"rec'.length));
    await importSources(kernel, [file], { formats });
    expect(await lineOf(kernel, "pi/talk")).toEqual(["one", "two", "three"]);
  });

  test("an import refuses links that lead out of the given path, and reports them", async () => {
    const kernel = await testKernel();
    const outside = testFolder();
    writeFileSync(join(outside, "secret.toy"), lines([said("s", "secret")]));
    const folder = testFolder();
    symlinkSync(join(outside, "secret.toy"), join(folder, "talk.toy"));
    symlinkSync(outside, join(folder, "all"));
    const report = await importSources(kernel, [folder], { formats });
    expect(report.totals.sources).toBe(0);
    expect(report.problems).toHaveLength(2);
    expect(await kernel.sessions()).toEqual([]);
  });

  test("a dry run of an import writes nothing", async () => {
    const kernel = await testKernel();
    const file = join(testFolder(), "talk.toy");
    writeFileSync(file, lines([said("a", "one", { version: "1" }), said("a", "two", { version: "2" })]));
    const report = await importSources(kernel, [file], { formats, dryRun: true });
    expect(report.sources[0]).toMatchObject({ status: "planned", found: { messages: 1 } });
    expect(await kernel.sessions()).toEqual([]);
  });

  test("an import by two processes at once stores each record once", async () => {
    const { kernel, path } = await diskKernel();
    const other = await testKernel({ path });
    const file = join(testFolder(), "talk.toy");
    writeFileSync(
      file,
      lines(Array.from({ length: 3_000 }, (_, index) => said(`r${index}`, `message ${index}`))),
    );
    await Promise.all([kernel, other].map((one) => importSources(one, [file], { formats })));
    const log = await (await kernel.session("pi/talk")).head();
    expect(log.seq).toBe(3_000);
  });

  test("an import can be stopped and continued", async () => {
    const kernel = await testKernel();
    const folder = testFolder();
    const count = 5_000;
    writeFileSync(
      join(folder, "talk.toy"),
      lines(Array.from({ length: count }, (_, index) => said(`r${index}`, `message ${index} `.repeat(100)))),
    );
    const stop = new AbortController();
    const onProgress = ({ messages }: { messages: number }) => messages > 1_000 && stop.abort();
    const report = await importSources(kernel, [folder], { formats, signal: stop.signal, onProgress });
    expect(report.sources).toMatchObject([{ status: "stopped" }]);
    expect(report.totals.added.messages).toBeLessThan(count);
    await importSources(kernel, [folder], { formats });
    expect((await (await kernel.session("pi/talk")).head()).seq).toBe(count);
  });
});
