import { describe, test } from "vitest";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { storeSuite } from "../../src/stores/testing/index.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";

describe("the SQLite store in memory", () => {
  for (const { name, run } of storeSuite(() => openSqliteStore({ path: ":memory:" }))) test(name, run);
});

describe("the SQLite store on disk", () => {
  for (const { name, run } of storeSuite(() => openSqliteStore({ path: testFolder() }))) test(name, run);
});

describe("the SQLite store on disk, safe against power loss", () => {
  const cases = storeSuite(() => openSqliteStore({ path: testFolder(), durability: "power" }));
  // The same statements as above with another setting of the database: an ordinary run needs only a few of them.
  for (const [place, { name, run }] of cases.entries()) (place % 10 === 0 ? test : proofTest)(name, run);
});
