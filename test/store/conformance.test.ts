import { describe, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/index.ts";
import { storeSuite } from "../../src/testing/index.ts";
import { testFolder } from "../support/folder.ts";

describe("the SQLite store in memory", () => {
  for (const { name, run } of storeSuite(() => openSqliteStore({ path: ":memory:" }))) test(name, run);
});

describe("the SQLite store on disk", () => {
  for (const { name, run } of storeSuite(() => openSqliteStore({ path: testFolder() }))) test(name, run);
});

describe("the SQLite store on disk, safe against power loss", () => {
  for (const { name, run } of storeSuite(() => openSqliteStore({ path: testFolder(), durability: "power" })))
    test(name, run);
});
