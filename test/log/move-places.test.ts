import { expect, test } from "vitest";
import { moveStore } from "../../src/log/migration/move-store.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { testFolder } from "../support/folder.ts";

test("moving a store also moves the keys by which its conversations are found", async () => {
  const [from, to] = [
    await openSqliteStore({ path: testFolder() }),
    await openSqliteStore({ path: testFolder() }),
  ];
  const key = "ab".repeat(16);
  const payload = Buffer.from(JSON.stringify({ message: { role: "user", parts: [] } }));
  const entry = { kind: "message", at: 1, payload } as const;
  await from.sessions.open({ id: "s", createdAt: 1 });
  await from.entries.append([{ session: "s", entries: [entry, { ...entry, places: [key] }] }]);
  await moveStore(from, to);
  // Keys that entries got after their copy follow with the next run.
  await from.places.put([{ key, session: "s", seq: 1 }]);
  await moveStore(from, to);
  expect(await to.places.ofSession("s")).toEqual([
    { key, session: "s", seq: 1 },
    { key, session: "s", seq: 2 },
  ]);
  await Promise.all([from.close(), to.close()]);
});
