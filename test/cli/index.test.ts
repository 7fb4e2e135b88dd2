import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { jsonHere, runHere } from "./support/here.ts";
import { startProgram } from "./support/program.ts";
import { storeWithTicket } from "./support/store.ts";

function project(): string {
  const folder = testFolder();
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, ".gitignore"), "ignored.ts\n");
  writeFileSync(
    join(folder, "src", "auth.ts"),
    "export function validateToken(token: string) {\n  return token !== '';\n}\n",
  );
  writeFileSync(join(folder, "src", "ignored.ts"), "validateToken();\n");
  writeFileSync(join(folder, "photo.bin"), Buffer.from([1, 0, 2, 0]));
  return folder;
}

describe("longhaul index", () => {
  proofTest(
    "longhaul index makes files searchable, lists what it skipped, and indexes nothing twice",
    async () => {
      const [store, folder] = [testFolder(), project()];
      const first = await runHere(["index", folder, "--store", store]);
      expect(first.stdout).toMatch(/^2 files indexed \(\d+ chunks\), 0 unchanged, 1 skipped\.\n/);
      expect(first.stdout).toContain("skipped, binary: ");
      expect(first.code).toBe(0);
      const { value } = await jsonHere([
        "recall",
        "where are tokens validated",
        "--path",
        folder,
        "--store",
        store,
      ]);
      expect(value.hits[0]).toMatchObject({
        kind: "file",
        path: join(folder, "src", "auth.ts"),
        lines: { first: 1 },
      });
      const again = await jsonHere(["index", folder, "--store", store]);
      expect(again.value).toMatchObject({ changed: 0, chunks: 0, removed: 0 });
      rmSync(join(folder, "src", "auth.ts"));
      expect((await jsonHere(["index", folder, "--store", store])).value).toMatchObject({ removed: 1 });
      const gone = await jsonHere(["recall", "validateToken", "--path", folder, "--store", store]);
      expect(JSON.stringify(gone.value.hits)).not.toContain("auth.ts");
    },
  );

  test("longhaul index without a path indexes the conversations of the store", async () => {
    const store = await storeWithTicket();
    const { value } = await jsonHere(["index", "--store", store]);
    expect(value.entries).toBe(7);
    expect((await jsonHere(["index", "--store", store])).value.entries).toBe(0);
  });

  test("longhaul index refuses a path that is not there before it makes a store", async () => {
    const store = join(testFolder(), "new");
    const ended = await runHere(["index", "/repo/nowhere", "--store", store]);
    expect(ended.stderr).toContain("There is no file or folder at /repo/nowhere");
    expect(ended.code).toBe(1);
    expect((await runHere(["memories", "--store", store])).stderr).toContain("There is no store");
    expect((await runHere(["index", "--watch", "--store", store])).code).toBe(2);
  });

  proofTest("longhaul index --watch indexes files again when they change", async () => {
    const [store, folder] = [testFolder(), project()];
    const running = startProgram(["index", folder, "--watch", "--json", "--store", store]);
    await running.says('"type":"indexed"');
    writeFileSync(join(folder, "src", "late.ts"), "export const lateArrival = 1;\n");
    await running.says('"changed":1');
    running.process.kill("SIGINT");
    const { code, stdout } = await running.ended;
    expect(code).toBe(130);
    expect(stdout.trim().split("\n").at(-1)).toBe('{"type":"stopped"}');
    const { value } = await jsonHere(["recall", "lateArrival", "--path", folder, "--store", store]);
    expect(value.hits[0]?.path).toBe(join(folder, "src", "late.ts"));
  });

  test("indexed files can be removed from the index", async () => {
    const [store, folder] = [testFolder(), project()];
    await runHere(["index", folder, "--store", store]);
    const { stdout } = await runHere(["forget", "--path", folder, "--store", store]);
    expect(stdout).toBe("Removed 2 files from the index.\n");
    const { value } = await jsonHere(["forget", "--path", folder, "--store", store]);
    expect(value).toEqual({ forgotten: [], files: 0 });
    expect((await runHere(["forget", "--store", store])).code).toBe(2);
  });
});
