import { expect, test } from "vitest";
import { EntryPages, type PagePlace } from "../../web/pages/conversation/entry-pages.ts";
import { buildRows, findRow } from "../../web/pages/conversation/rows.ts";
import { findNearestEdit } from "../../web/pages/window/curve-data.ts";
import { diffTexts, findDiffs, isDiff } from "../../web/session/diff.ts";
import type { Message, MessageEntry } from "../../web/session/session-types.ts";

const makeEntry = (seq: number, message: Message): MessageEntry => ({
  kind: "message",
  id: `s#${seq}`,
  session: "s",
  seq,
  at: seq,
  message,
});
const say = (seq: number) => makeEntry(seq, { role: "user", parts: [{ type: "text", text: `${seq}` }] });

/** Pages of a log of `count` entries, as the API returns them. */
function readPages(count: number, size: number) {
  return async ({ before, after, around }: PagePlace) => {
    const seqOf = (cursor: string) => Number(cursor.slice(cursor.indexOf("#") + 1));
    let first = count - size + 1;
    if (before !== undefined) first = seqOf(before) - size;
    if (after !== undefined) first = after.endsWith("@") ? 1 : seqOf(after) + 1;
    if (around !== undefined) first = Number(around) - size / 2;
    const end = before === undefined ? Math.max(1, first) + size - 1 : seqOf(before) - 1;
    const entries = [];
    for (let seq = Math.max(1, first); seq <= Math.min(count, end); seq++) entries.push(say(seq));
    return {
      entries,
      ...(entries[0] && entries[0].seq > 1 && { before: `0@s#${entries[0].seq}` }),
      after: `0@s#${entries.at(-1)?.seq ?? count}`,
    };
  };
}

test("the list loads pages at both ends, drops the far end, and loads the same entries again", async () => {
  const pages = new EntryPages({
    read: readPages(1_000, 20),
    onChange: () => undefined,
    pageSize: 20,
    maxEntries: 60,
  });
  const seqs = () => pages.loaded.entries.map(({ seq }) => seq);
  await pages.openNewest();
  expect([seqs().at(0), seqs().at(-1), pages.loaded.isAtEnd]).toEqual([981, 1_000, true]);
  for (let round = 0; round < 10; round++) await pages.loadOlder();
  expect([seqs().at(0), seqs().at(-1), pages.loaded.isAtEnd]).toEqual([781, 840, false]);
  expect(pages.append(say(1_001))).toBe(false);
  for (let round = 0; round < 20; round++) {
    await pages.loadNewer();
    expect(seqs()).toEqual(seqs().map((_, index) => (seqs()[0] ?? 0) + index));
    expect(seqs().length).toBeLessThanOrEqual(60);
  }
  expect([seqs().at(-1), pages.loaded.isAtEnd]).toEqual([1_000, true]);
  expect(pages.append(say(1_001))).toBe(true);
  expect(pages.append(say(1_001))).toBe(true);
  expect(seqs().slice(-2)).toEqual([1_000, 1_001]);
  await pages.openOldest("0@");
  expect([seqs().at(0), pages.loaded.hasOlder]).toEqual([1, false]);
  await pages.openAround("500");
  expect(seqs()).toContain(500);
});

test("a result joins the row of its call, and an entry that names the result finds that row", () => {
  const call = (seq: number, callId: string) =>
    makeEntry(seq, { role: "assistant", parts: [{ type: "tool-call", callId, name: "bash", input: {} }] });
  const result = (seq: number, callId: string) =>
    makeEntry(seq, { role: "tool", parts: [{ type: "tool-result", callId, output: [] }] });
  // An id may be used again later; each call takes the next result.
  const rows = buildRows([result(1, "old"), call(2, "a"), result(3, "a"), call(4, "a"), result(5, "a")], []);
  expect(rows.map(({ key }) => key)).toEqual(["s#1", "s#2", "s#4"]);
  expect(findRow(rows, "3")).toBe(1);
  expect(findRow(rows, "s#5")).toBe(2);
  expect(findRow(rows, "9")).toBe(-1);
});

test("diffs are found in the inputs and outputs of tools, and compare line by line", () => {
  expect(diffTexts("a\nb\nc", "a\nx\nc").map(({ type }) => type)).toEqual([
    "same",
    "removed",
    "added",
    "same",
  ]);
  expect(diffTexts("", "a")).toEqual([{ type: "added", text: "a" }]);
  expect(findDiffs({ file_path: "a.ts", old_string: "1", new_string: "2" })).toMatchObject([
    { file: "a.ts" },
  ]);
  expect(findDiffs({ command: "ls" })).toEqual([]);
  expect(isDiff("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b")).toBe(true);
  expect(isDiff("- a list\n- of things")).toBe(false);
});

test("the edit nearest to a point is found within a distance", () => {
  const edits = [{ point: 10 }, { point: 20 }, { point: 20 }];
  expect([9, 12, 16, 40].map((point) => findNearestEdit(edits, point, 3))).toEqual([
    0,
    0,
    undefined,
    undefined,
  ]);
  expect(findNearestEdit(edits, 19, 3)).toBe(1);
});
