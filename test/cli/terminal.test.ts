import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { writeConversation } from "./support/conversation.ts";
import { MAIN, type Running, start } from "./support/program.ts";
import { storeWithTicket } from "./support/store.ts";

/** Whether util-linux's `script` is available, which runs a program on a pseudo-terminal. */
function hasScript(): boolean {
  try {
    return execFileSync("script", ["--version"], { encoding: "utf8" }).includes("util-linux");
  } catch {
    return false;
  }
}

const ESCAPE = "\u001b";

/** Runs the program on a terminal of 20 rows and 80 columns. */
function startOnTerminal(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const command = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(" ");
  return start("script", ["-qec", `stty rows 20 cols 80 -echo; ${command}`, "/dev/null"], {
    env: { TERM: "xterm", ...env },
  });
}

describe.skipIf(!hasScript())("on a terminal", () => {
  proofTest("roles are colored on a terminal, unless the user switches colors off", async () => {
    const store = await storeWithTicket();
    const args = ["show", "4711", "--limit", "1", "--store", store];
    const colored = await startOnTerminal(args).ended;
    expect(colored.code).toBe(0);
    expect(colored.stdout).toContain(`${ESCAPE}[36m${ESCAPE}[1massistant${ESCAPE}[22m${ESCAPE}[39m`);
    for (const plain of [
      await startOnTerminal([...args, "--no-color"]).ended,
      await startOnTerminal(args, { NO_COLOR: "1" }).ended,
    ]) {
      expect(plain.stdout).toContain("assistant");
      expect(plain.stdout).not.toContain(ESCAPE);
    }
  });

  proofTest("output longer than the screen goes through the pager, and shorter output does not", async () => {
    const store = testFolder();
    {
      await using kernel = await openKernel({ path: store });
      for (let number = 0; number < 40; number++) await kernel.session(`session-${number}`);
    }
    const env = { PAGER: "sed s/^/paged:/" };
    const long = await startOnTerminal(["sessions", "--no-color", "--store", store], env).ended;
    expect(long.code).toBe(0);
    expect(long.stdout.match(/^paged: *\d+ +session-/gm)).toHaveLength(40);
    const short = await startOnTerminal(["sessions", "--no-color", "--limit", "5", "--store", store], env)
      .ended;
    expect(short.stdout).toContain("session-39");
    expect(short.stdout).not.toContain("paged:");
    const plain = await startOnTerminal(["sessions", "--store", store], { PAGER: "no-such-pager" }).ended;
    expect(plain.stdout).toContain("session-0");
  });

  test("the first run finds histories, asks, imports and indexes them, and reports their cost", async () => {
    const home = testFolder();
    writeConversation(home, 1, 30);
    const running = startOnTerminal(["--no-color"], { HOME: home });
    await running.says("Import these? [Y/n]");
    running.process.stdin?.write("\r");
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    expect(stdout).toContain("1 conversation to import");
    expect(stdout).toContain("1 imported, 0 unchanged");
    expect(stdout).toMatch(/1 conversation, 30 requests/);
    const next = stdout.trim().split(/\r?\n/).slice(-3);
    expect(next.map((line) => /longhaul \w+/.exec(line)?.[0])).toEqual([
      "longhaul connect",
      "longhaul dashboard",
      "longhaul recall",
    ]);
    const store = join(home, ".longhaul");
    await using kernel = await openKernel({ path: store });
    expect(await kernel.memory.state()).toMatchObject({ unindexed: 0, unembedded: 0 });
    const second = await startOnTerminal(["--no-color"], { HOME: home }).ended;
    expect(second.stdout).toContain("Usage: longhaul <command>");
  });

  test("a first run that the user declines imports nothing and still names the next step", async () => {
    const home = testFolder();
    writeConversation(home, 1, 2);
    const running = startOnTerminal(["--no-color"], { HOME: home });
    await running.says("Import these? [Y/n]");
    running.process.stdin?.write("n\r");
    const { stdout } = await running.ended;
    expect(stdout).toContain("longhaul help");
    expect(existsSync(join(home, ".longhaul"))).toBe(false);
  });

  proofTest("a pager that is closed early ends the program quietly", async () => {
    const store = testFolder();
    {
      await using kernel = await openKernel({ path: store });
      await using session = await kernel.session("long");
      const words = Array.from({ length: 2_000 }, (_, index) => `word ${index}`);
      await session.appendAll(words.map((text) => ({ role: "user", text })));
    }
    const args = ["show", "long", "--all", "--no-color", "--store", store];
    const { code, stdout } = await startOnTerminal(args, { PAGER: "head -n 5" }).ended;
    expect(code).toBe(0);
    expect(stdout.trim().split("\n")).toHaveLength(5);
  });

  proofTest("import asks before it imports the conversations it found", async () => {
    const home = testFolder();
    const store = join(home, "store");
    writeConversation(home, 1, 2);
    const env = { HOME: home, LONGHAUL_HOME: store };
    const refusing = startOnTerminal(["import", "--no-color"], env);
    await refusing.says("Import these? [y/N] ");
    refusing.process.stdin?.write("n\r");
    expect((await refusing.ended).code).toBe(0);
    expect(existsSync(store)).toBe(false);

    const agreeing = startOnTerminal(["import", "--no-color"], env);
    await agreeing.says("Import these? [y/N] ");
    agreeing.process.stdin?.write("y\r");
    const { code, stdout } = await agreeing.ended;
    expect(code).toBe(0);
    expect(stdout).toContain("1 imported, 0 unchanged");
    expect(stdout).toContain("1 of 1 conversations");
  });

  test("Ctrl-C at the question imports nothing", async () => {
    const home = testFolder();
    writeConversation(home, 1, 2);
    const store = join(home, "store");
    const running = startOnTerminal(["import"], { HOME: home, LONGHAUL_HOME: store });
    await running.says("Import these? [y/N] ");
    await sleep(50);
    running.process.stdin?.write("\u0003");
    expect((await running.ended).code).toBe(130);
    expect(existsSync(store)).toBe(false);
  });
});
