import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { runHere } from "./support/here.ts";
import { runJson, runProgram } from "./support/program.ts";
import { PNG, storeWithTicket } from "./support/store.ts";

const filesBelow = (folder: string) => readdirSync(folder, { recursive: true }).map(String).sort();

describe("longhaul export", () => {
  proofTest("longhaul export prints a single file to its output", async () => {
    const store = await storeWithTicket();
    const { code, stdout, stderr } = await runProgram([
      "export",
      "4711",
      "--to",
      "anthropic",
      "--store",
      store,
    ]);
    expect(code).toBe(0);
    expect(stderr).toBe("");
    const roles = JSON.parse(stdout).messages.map(({ role }: { role: string }) => role);
    expect(roles).toEqual(["user", "assistant", "user", "assistant"]);
    const byDash = await runHere(["export", "4711", "--to", "anthropic", "--out", "-", "--store", store]);
    expect(byDash.stdout).toBe(stdout);
  });

  test("longhaul export writes a file, and overwrites another one only with --force", async () => {
    const store = await storeWithTicket();
    const folder = testFolder();
    const out = join(folder, "conversation.json");
    const args = ["export", "4711", "--to", "anthropic", "--out", "conversation.json", "--store", store];
    const first = await runProgram(args, { cwd: folder });
    expect(first).toMatchObject({ code: 0, stdout: "" });
    expect(first.stderr).toMatch(/^wrote .*conversation\.json, \d+ (B|KB)\n$/);
    const whole = readFileSync(out, "utf8");
    expect(JSON.parse(whole).messages).toHaveLength(4);

    writeFileSync(out, "mine");
    const second = await runProgram(args, { cwd: folder });
    expect(second.code).toBe(1);
    expect(second.stderr).toBe(`longhaul: ${out} already exists; --force overwrites it.\n`);
    expect(readFileSync(out, "utf8")).toBe("mine");

    const forced = await runJson([...args, "--force"], { cwd: folder });
    expect(forced.value).toEqual({
      session: "ticket-4711",
      writer: "anthropic",
      files: [out],
      sizeBytes: Buffer.byteLength(whole),
    });
    expect(readFileSync(out, "utf8")).toBe(whole);
    expect(readdirSync(folder)).toEqual(["conversation.json"]);
  });

  test("longhaul export writes into an existing folder, and refuses a path in a missing folder", async () => {
    const store = await storeWithTicket();
    const folder = testFolder();
    expect(
      (await runHere(["export", "4711", "--to", "markdown", "--out", folder, "--store", store])).code,
    ).toBe(0);
    expect(readdirSync(folder)).toEqual(["conversation.md"]);
    const missing = join(folder, "missing", "x.md");
    const { code, stderr } = await runHere([
      "export",
      "4711",
      "--to",
      "markdown",
      "-o",
      missing,
      "--store",
      store,
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain(`There is no folder ${join(folder, "missing")}`);
  });

  proofTest(
    "longhaul export writes a folder of files, keeps other files in it, and refuses to overwrite one",
    async () => {
      const store = await storeWithTicket();
      const out = join(testFolder(), "tasks");
      const args = ["export", "4711", "--to", "cline", "--store", store];
      const unnamed = await runHere(args);
      expect(unnamed.code).toBe(2);
      expect(unnamed.stderr).toContain("cline writes a folder of files; name the folder with --out");

      mkdirSync(out);
      writeFileSync(join(out, "mine.txt"), "mine");
      expect((await runHere([...args, "--out", out])).code).toBe(0);
      const files = filesBelow(out);
      expect(files.some((name) => name.endsWith("api_conversation_history.json"))).toBe(true);
      expect(files).toContain("mine.txt");
      const again = await runHere([...args, "--out", out]);
      expect(again.code).toBe(1);
      expect(again.stderr).toContain("already exists; --force overwrites it.");
      expect(filesBelow(out)).toEqual(files);
      expect((await runHere([...args, "--out", out, "--force"])).code).toBe(0);
      expect(filesBelow(out)).toEqual(files);
    },
  );

  test("longhaul export writes sub-agents into their own files", async () => {
    const store = await storeWithTicket();
    const out = join(testFolder(), "all");
    const args = ["export", "4711", "--to", "markdown", "--children", "--store", store];
    expect((await runHere(args)).stderr).toContain(
      "--children writes several files; name a folder with --out",
    );
    expect((await runHere([...args, "--out", out])).code).toBe(0);
    expect(filesBelow(out)).toEqual(["ticket-4711.md", "ticket-4711_explorer.md"]);
    expect(readFileSync(join(out, "ticket-4711_explorer.md"), "utf8")).toContain("Where is the server?");
  });

  test("longhaul export leaves nothing behind when it fails", async () => {
    const store = await storeWithTicket();
    {
      await using kernel = await openKernel({ path: store });
      await using session = await kernel.session("ticket-4711");
      // Larger than the limit for loading at once.
      const data = Buffer.concat([PNG, Buffer.alloc(21_000_000)]);
      await session.append({ role: "user", parts: [{ type: "data", data }] });
    }
    const folder = testFolder();
    const args = ["export", "4711", "--to", "anthropic", "--out", "x.json", "--store", store];
    const { code, value } = await runJson(args, { cwd: folder });
    expect(code).toBe(1);
    expect(value.error.code).toBe("BLOB_TOO_LARGE");
    expect(readdirSync(folder)).toEqual([]);
  });

  test("longhaul export marks a missing blob, writes everything else, and ends with 3", async () => {
    const store = await storeWithTicket();
    for (const name of readdirSync(join(store, "blobs")))
      rmSync(join(store, "blobs", name), { recursive: true });
    const { code, stdout, stderr } = await runHere(["export", "4711", "--to", "anthropic", "--store", store]);
    expect(code).toBe(3);
    expect(stderr).toContain("is not in this store");
    expect(stdout).toContain("[image/png screen.png is missing or damaged]");
    expect(stdout).toContain("It waits for a server.");
  });

  test("longhaul export refuses unknown formats and sessions", async () => {
    const store = await storeWithTicket();
    const wrong = await runHere(["export", "4711", "--to", "anthropik", "--store", store]);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('--to is "anthropik"; did you mean anthropic?');
    expect((await runHere(["export", "4711", "--store", store])).stderr).toContain("--to is missing");
    expect((await runHere(["export", "nobody", "--to", "anthropic", "--store", store])).code).toBe(1);
  });
});
