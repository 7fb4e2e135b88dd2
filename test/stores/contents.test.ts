import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { Kernel } from "../../src/kernel/index.ts";
import {
  backupStore,
  migrateStore,
  openKernel,
  repairStore,
  restoreStore,
} from "../../src/kernel/open-kernel.ts";
import { MOVED_PARTS } from "../../src/log/migration/move-store.ts";
import { addFenceSecret, fenceWithMark } from "../../src/model/base/fence.ts";
import { erasePerson } from "../../src/server/erasing/erase-person.ts";
import { testFolder } from "../support/folder.ts";

/**
 * Every table of a store: the part that it belongs to, and whether rows of one person may be left in it after the
 * person's erasure. A new table needs its row here, and a row of its part in `MOVED_PARTS`.
 */
const TABLES: Readonly<Record<string, { readonly part: keyof typeof MOVED_PARTS; readonly keeps?: true }>> = {
  sessions: { part: "sessions" },
  entries: { part: "entries" },
  drafts: { part: "drafts" },
  blobs: { part: "blobs" },
  blob_refs: { part: "blobs" },
  blob_holds: { part: "blobs" },
  intakes: { part: "intakes" },
  intake_records: { part: "intakes" },
  leases: { part: "leases", keeps: true },
  tasks: { part: "tasks" },
  people: { part: "people" },
  person_tokens: { part: "people" },
  budgets: { part: "budgets" },
  budget_uses: { part: "budgets" },
  budget_reservations: { part: "budgets" },
  audit: { part: "audit", keeps: true },
  places: { part: "places" },
  ledger: { part: "ledger", keeps: true },
};

/** Tables of running processes, which a copy of the store does not have. */
const OF_PROCESSES = ["blob_holds", "budget_reservations", "tasks"];

function countRows(path: string): Readonly<Record<string, number>> {
  const db = new DatabaseSync(join(path, "log.db"), { readOnly: true });
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all();
  const counts = tables.map(({ name }) => [
    name,
    db.prepare(`SELECT count(*) AS rows FROM ${name}`).get()?.rows,
  ]);
  db.close();
  return Object.fromEntries(counts);
}

/** A store in which each table that outlives a process has rows of one person. */
async function fill(path: string): Promise<void> {
  await using kernel = await openKernel({ path, embedder: null });
  await kernel.team.add("bob", { by: "admin" });
  const budget = await kernel.team.setBudget(
    { person: "bob", unit: "tokens", amount: 10, period: "day" },
    { by: "admin" },
  );
  expect(budget).toBeDefined();
  await using session = await kernel.session("@bob/one");
  await session.append({ role: "user", text: "x".repeat(200_000), places: ["ab".repeat(16)] });
  const { id } = await session.append({
    role: "user",
    text: "my passport number is ZX-99887766-Q for the form",
  });
  await session.redact(id);
  const intake = await session.intake("source");
  await intake.append([
    { record: { id: "r1" }, body: { kind: "message", message: { role: "user", text: "one" } } },
  ]);
  await kernel.maintenance.bulkhead("index").note("@bob/one#1", new TypeError("failed"));
}

async function recallQuote(kernel: Kernel): Promise<readonly (string | undefined)[]> {
  const { hits } = await kernel.memory.recall("zeppelin friday 5512");
  return hits.map((hit) => ("session" in hit ? String(hit.session) : undefined));
}

test("every table of a store belongs to a part, and copies of the store have its rows", async () => {
  const folder = testFolder();
  const path = join(folder, "store");
  await fill(path);
  const rows = countRows(path);
  expect(Object.keys(rows).toSorted()).toEqual(Object.keys(TABLES).toSorted());
  const empty = Object.keys(rows).filter((name) => rows[name] === 0);
  expect(empty.filter((name) => !["drafts", "budget_uses", ...OF_PROCESSES].includes(name))).toEqual([]);
  await migrateStore(path, join(folder, "moved"));
  await backupStore(path, join(folder, "backup"));
  await restoreStore(join(folder, "backup"), join(folder, "restored"));
  await repairStore(path, join(folder, "repaired"));
  for (const copy of ["moved", "restored", "repaired"]) {
    const copied = countRows(join(folder, copy));
    for (const [name, { part }] of Object.entries(TABLES)) {
      // Of the leases, a move copies the keys and adds its mark.
      if (copy === "moved" && (name === "leases" || !MOVED_PARTS[part].startsWith("moved"))) continue;
      // A move leaves the notes of loops to the target.
      const more = copy === "moved" && name === "ledger" ? -1 : 0;
      expect([copy, name, copied[name]]).toEqual([copy, name, (rows[name] ?? 0) + more]);
    }
  }
});

function readKeys(path: string): readonly unknown[] {
  const db = new DatabaseSync(join(path, "log.db"), { readOnly: true });
  const keys = db.prepare("SELECT name, owner FROM leases WHERE name LIKE 'key %' ORDER BY name").all();
  db.close();
  return keys.map(({ name, owner }) => `${name} ${owner}`);
}

test("a moved store has the keys with which its content was made", async () => {
  const folder = testFolder();
  const path = join(folder, "store");
  await fill(path);
  await migrateStore(path, join(folder, "moved"));
  const keys = readKeys(path);
  expect(keys).toHaveLength(2);
  expect(readKeys(join(folder, "moved"))).toEqual(keys);
});

test("after the erasure of a person, only tables that keep records of it have rows", async () => {
  const path = join(testFolder(), "store");
  await fill(path);
  {
    await using kernel = await openKernel({ path, embedder: null });
    await erasePerson(
      kernel,
      { name: "bob", prefixes: ["@bob/"], memoryAgent: "gateway:@bob" },
      { by: "admin" },
    );
    await kernel.collectGarbage();
  }
  const left = Object.entries(countRows(path)).flatMap(([name, rows]) => (rows > 0 ? [name] : []));
  expect(left.filter((name) => !TABLES[name]?.keeps)).toEqual([]);
  await using kernel = await openKernel({ path, embedder: null });
  const skipped: unknown[] = [];
  for await (const item of kernel.maintenance.skipped()) skipped.push(item);
  expect(skipped).toEqual([]);
});

test("quotes of memory are not found as if somebody had said them, in a moved or repaired store either", async () => {
  const folder = testFolder();
  const path = join(folder, "store");
  {
    await using kernel = await openKernel({ path, embedder: null });
    await using said = await kernel.session("said");
    await said.append({ role: "user", text: "the zeppelin lands on friday 5512" });
    await using quoting = await kernel.session("quoting");
    const output = fenceWithMark("memory-data", "the zeppelin lands on friday 5512");
    await quoting.append({ role: "tool", parts: [{ type: "tool-result", callId: "c", output }] });
  }
  await migrateStore(path, join(folder, "moved"));
  await repairStore(path, join(folder, "repaired"));
  // As in a new process, which knows no key but that of the store it opens.
  for (let other = 0; other < 32; other++) addFenceSecret(`another ${other}`);
  for (const copy of ["moved", "repaired"]) {
    await using kernel = await openKernel({ path: join(folder, copy), embedder: null });
    expect([copy, await recallQuote(kernel)]).toEqual([copy, ["said"]]);
  }
});
