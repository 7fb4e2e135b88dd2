import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { runHere } from "./support/here.ts";
import { MAIN, runProgram, startProgram } from "./support/program.ts";
import { storeWithTicket } from "./support/store.ts";

describe("the program", () => {
  test("the program lists its commands, with or without help", async () => {
    for (const args of [[], ["--help"]]) {
      const { code, stdout } = await runProgram(args);
      expect(code).toBe(0);
      for (const name of [
        "import",
        "sessions",
        "show",
        "context",
        "usage",
        "revert",
        "pin",
        "unpin",
        "export",
      ])
        expect(stdout).toContain(`  ${name} `);
    }
  });

  test("the program shows the options of a command by help and by --help", async () => {
    const byHelp = await runHere(["help", "show"]);
    const byOption = await runHere(["show", "--help"]);
    expect(byHelp.stdout).toContain("--around ENTRY");
    expect(byOption).toEqual(byHelp);
  });

  test("the program explains an error code, and refuses an unknown code", async () => {
    const { code, stdout } = await runHere(["help", "WINDOW_FLOOR"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^WINDOW_FLOOR: The protected content .*\n\nUnpin something/);
    expect((await runHere(["help", "NO_SUCH_CODE"])).code).toBe(2);
  });

  test("the program prints its version", async () => {
    const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect((await runHere(["--version"])).stdout).toBe(`${manifest.version}\n`);
  });

  test("the program suggests the nearest command and ends with 2", async () => {
    const { code, stderr, stdout } = await runHere(["sesions"]);
    expect(code).toBe(2);
    expect(stderr).toBe(
      'longhaul: there is no command "sesions"; did you mean sessions? See "longhaul help".\n',
    );
    expect(stdout).toBe("");
  });

  test("the program names the wrong option, suggests the nearest one and ends with 2", async () => {
    const { code, stderr } = await runHere(["sessions", "--limt", "3"]);
    expect(stderr).toBe(
      'longhaul: sessions has no option --limt; did you mean --limit? See "longhaul help sessions".\n',
    );
    expect(code).toBe(2);
  });

  test("the program prints failures as JSON with --json", async () => {
    const folder = testFolder();
    const { code, stdout, stderr } = await runHere(["sessions", "--store", folder, "--json"]);
    const { error } = JSON.parse(stdout);
    expect(code).toBe(1);
    expect(error).toMatchObject({ code: "STORE_IO", details: { path: folder } });
    expect(stderr).toBe(`longhaul: ${error.message}\n`);
  });

  test("the program accepts common options before the command", async () => {
    const store = await storeWithTicket();
    const { code, stdout } = await runHere(["--store", store, "--json", "sessions"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).sessions).toHaveLength(2);
  });

  test("the program names the required version if Node is too old", async () => {
    const old = "Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.11.1'}})";
    const { code, stdout, stderr } = await runProgram(["sessions"], {
      nodeOptions: ["--import", `data:text/javascript,${encodeURIComponent(old)}`],
    });
    expect(code).toBe(1);
    expect(stderr).toBe("longhaul needs Node 22.13 or newer; this is Node 20.11.1.\n");
    expect(stdout).toBe("");
  });

  test("the program can be run by its name", () => {
    expect(readFileSync(MAIN, "utf8").split("\n")[0]).toMatch(/^#!\/usr\/bin\/env -S node( |$)/);
  });

  proofTest("the program ends quietly when its output is closed", async () => {
    const store = await storeWithTicket();
    const running = startProgram(["show", "ticket-4711", "--follow", "--store", store]);
    await running.says("It waits for a server.");
    running.process.stdout?.destroy();
    const { openKernel } = await import("../../src/kernel/index.ts");
    await using kernel = await openKernel({ path: store });
    await using session = await kernel.session("ticket-4711");
    await session.append({ role: "user", text: "Is anyone there?" });
    await session.append({ role: "user", text: "Really not?" });
    const { code, stderr } = await running.ended;
    expect(stderr).toBe("");
    expect(code).toBe(0);
  });
});
