import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findEncryptedHistories } from "../../src/histories/examine-histories.ts";
import { runHere } from "../cli/support/here.ts";
import { testFolder } from "../support/folder.ts";

test("an import lists encrypted conversations with the reason", async () => {
  const home = testFolder();
  const system = { home, platform: "linux", env: {} } as const;
  expect(await findEncryptedHistories(system)).toEqual([]);
  const folder = join(home, ".codeium", "windsurf", "cascade");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "one.pb"), "\u0000");
  expect(await findEncryptedHistories(system)).toMatchObject([{ title: "Windsurf", files: 1 }]);
  const { stderr } = await runHere(["import", "--store", join(testFolder(), "store")], { home });
  expect(stderr).toContain("encrypted with a key that only Windsurf has");
});
