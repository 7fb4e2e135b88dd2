import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/index.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { runJson, runProgram } from "./support/program.ts";
import { storeWithTicket } from "./support/store.ts";

describe("longhaul sessions", () => {
  test("lists sessions with their titles and entries, children below their parents", async () => {
    const { code, stdout } = await runProgram(["sessions", "--store", await storeWithTicket()]);
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        "session               title               last entry  entries",
        "ticket-4711           Fix the flaky test  just now          7",
        "ticket-4711/explorer    └ Look around     just now          1",
        "",
      ].join("\n"),
    );
  });

  test("lines up wide characters and makes control characters visible", async () => {
    const path = testFolder();
    {
      await using kernel = await openKernel({ path });
      await kernel.session("a", { title: "日本語 👩‍👩‍👧" });
      await kernel.session("b", { title: "\u001b]0;owned\u0007 plain" });
    }
    const { stdout } = await runProgram(["sessions", "--store", path]);
    expect(stdout).toContain("a        日本語 👩‍👩‍👧               just now");
    expect(stdout).toContain("b        \\x1b]0;owned\\x07 plain  just now");
  });

  proofTest("goes on from where the last page ended", async () => {
    const path = testFolder();
    {
      await using kernel = await openKernel({ path });
      for (let number = 0; number < 5; number++) await kernel.session(`session-${number}`);
    }
    const first = await runJson(["sessions", "--limit", "3", "--store", path]);
    expect(first.value.sessions.map(({ id }: { id: string }) => id)).toEqual([
      "session-4",
      "session-3",
      "session-2",
    ]);
    const second = await runJson(["sessions", "--before", first.value.before, "--store", path]);
    expect(second.value.sessions.map(({ id }: { id: string }) => id)).toEqual(["session-1", "session-0"]);
    expect(second.value.before).toBeUndefined();
    const { stdout } = await runProgram(["sessions", "--limit", "3", "--store", path]);
    expect(stdout).toContain("older: longhaul sessions --before session-2");
  });

  test("takes the store from LONGHAUL_HOME", async () => {
    const store = await storeWithTicket();
    expect((await runJson(["sessions"], { env: { LONGHAUL_HOME: store } })).value.sessions).toHaveLength(2);
  });

  proofTest("leaves no store behind where there was none", async () => {
    const store = join(testFolder(), "typo");
    const { code, stderr } = await runProgram(["sessions", "--store", store]);
    expect(code).toBe(1);
    expect(stderr).toContain(`There is no store at ${store}`);
    expect(existsSync(store)).toBe(false);
  });
});
