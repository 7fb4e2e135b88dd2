import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { jsonHere, runHere } from "./support/here.ts";
import { runJson, runProgram } from "./support/program.ts";
import { storeWithTicket } from "./support/store.ts";

/** A store with conversations of two agents, one with a sub-agent. */
async function storeWithAgents(): Promise<string> {
  const path = testFolder();
  await using kernel = await openKernel({ path });
  await using ticket = await kernel.session("claude-code/4711", {
    title: "Fix the flaky test",
    meta: { source: { format: "claude-code", id: "4711", path: "/x.jsonl", cwd: "/srv/ann/ships" } },
  });
  await ticket.append({ role: "user", text: "Why does it fail?" });
  await ticket.window({ model: "claude-sonnet-4-5" }).report({ inputTokens: 1_000, outputTokens: 100 });
  await ticket.child({ id: "claude-code/4711/explorer", title: "Look around" });
  await using other = await kernel.session("codex/7", {
    title: "Paint the ship",
    meta: { source: { format: "codex", id: "7", path: "/y.jsonl" }, codex: { cwd: "/srv/ann/harbor" } },
  });
  await other.window({ model: "gpt-5.5" }).report({ inputTokens: 1_000, outputTokens: 100 });
  return path;
}

describe("longhaul sessions", () => {
  test("longhaul sessions shows title, agent, project, model, cost and last use in 80 columns", async () => {
    const path = await storeWithAgents();
    const { stdout } = await runHere(["sessions", "--store", path], { columns: 80 });
    const lines = stdout.trimEnd().split("\n");
    expect(lines.every((line) => line.length <= 80)).toBe(true);
    expect(lines[0]).toMatch(/^# +title +agent +project +model +cost +used$/);
    expect(lines[1]).toMatch(/^1 +Paint the ship +codex +harbor +gpt-5\.5 +\$0\.\d{4} +now$/);
    expect(lines[2]).toMatch(/^2 +Fix the flaky test +claude-code +ships +sonnet-4-5 +\$0\.\d{4} +now$/);
    expect(lines[3]).toMatch(/^3 +└ Look around/);
    const wide = (await runHere(["sessions", "--store", path], { columns: 160 })).stdout.split("\n");
    expect(wide[2]).toMatch(/claude-sonnet-4-5 .* now +2 +claude-code\/4711$/);
  });

  test("longhaul sessions gives each session a number that every command accepts until the next listing", async () => {
    const path = await storeWithAgents();
    const store = ["--store", path];
    expect((await jsonHere(["show", "2", ...store])).value.error.code).toBe("SESSION_NOT_FOUND");
    const { value } = await jsonHere(["sessions", ...store]);
    expect(value.sessions.map(({ number, id }: { number: number; id: string }) => [number, id])).toEqual([
      [1, "codex/7"],
      [2, "claude-code/4711"],
      [3, "claude-code/4711/explorer"],
    ]);
    {
      await using kernel = await openKernel({ path });
      await kernel.session("newer", { title: "Newer" });
    }
    for (const command of [["context"], ["usage"], ["compact", "--dry-run"]])
      expect((await jsonHere([...command, "2", ...store])).value.session).toBe("claude-code/4711");
    expect((await jsonHere(["pin", "#2", "1", ...store])).value.session).toBe("claude-code/4711");
    expect((await jsonHere(["forget", "2#1", "--yes", ...store])).value.forgotten).toMatchObject([
      { name: "claude-code/4711#1", kind: "entry" },
    ]);
    await jsonHere(["sessions", ...store]);
    expect((await jsonHere(["show", "2", ...store])).value.session.id).toBe("codex/7");
  });

  test('the session "last" is the conversation used last, not one of its sub-agents', async () => {
    const path = await storeWithAgents();
    {
      await using kernel = await openKernel({ path });
      await using session = await kernel.session("claude-code/4711");
      await session.append({ role: "user", text: "One more thing." });
      await using child = await kernel.session("claude-code/4711/explorer");
      await child.append({ role: "user", text: "And another." });
    }
    expect((await jsonHere(["show", "last", "--store", path])).value.session.id).toBe("claude-code/4711");
  });

  test("longhaul sessions filters by agent, project, time and person", async () => {
    const path = await storeWithAgents();
    {
      await using kernel = await openKernel({ path });
      await kernel.session("pi/old", { createdAt: Date.UTC(2020, 1, 1) });
      await kernel.session("@ann/codex/1", { title: "Of Ann" });
      await kernel.session("@bob/codex/1", { title: "Of Bob" });
    }
    const ids = async (...filter: readonly string[]) =>
      (await jsonHere(["sessions", ...filter, "--store", path])).value.sessions.map(
        ({ id }: { id: string }) => id,
      );
    expect(await ids("--agent", "Claude")).toEqual(["claude-code/4711", "claude-code/4711/explorer"]);
    expect(await ids("--project", "arbo")).toEqual(["codex/7"]);
    expect(await ids("--since", "30d", "--agent", "pi")).toEqual([]);
    expect(await ids("--agent", "pi")).toEqual(["pi/old"]);
    expect(await ids("--as", "ann")).toEqual(["@ann/codex/1"]);
    const show = async (who: string, which: string) =>
      (await jsonHere(["show", which, "--as", who, "--store", path])).value;
    expect((await show("ann", "1")).session.id).toBe("@ann/codex/1");
    expect((await show("ann", "codex/1")).session.id).toBe("@ann/codex/1");
    expect((await show("bob", "1")).session.id).toBe("@bob/codex/1");
    expect((await show("bob", "@ann/codex/1")).error.code).toBe("SESSION_NOT_FOUND");
    expect((await show("a/b", "1")).error.code).toBe("SESSION_NOT_FOUND");
    expect((await show("@", "1")).error.code).toBe("USAGE");
  });

  test("longhaul sessions aligns wide characters and makes control characters visible", async () => {
    const path = testFolder();
    {
      await using kernel = await openKernel({ path });
      await kernel.session("a", { title: "日本語 👩‍👩‍👧" });
      await kernel.session("b", { title: "\u001b]0;owned\u0007 plain" });
    }
    const { stdout } = await runProgram(["sessions", "--store", path]);
    expect(stdout).toContain("2  日本語 👩‍👩‍👧               ");
    expect(stdout).toContain("1  \\x1b]0;owned\\x07 plain  ");
  });

  proofTest("longhaul sessions continues after the last page", async () => {
    const path = testFolder();
    {
      await using kernel = await openKernel({ path });
      for (let number = 0; number < 5; number++) await kernel.session(`session-${number}`);
    }
    const first = await jsonHere(["sessions", "--limit", "3", "--store", path]);
    expect(first.value.sessions.map(({ id }: { id: string }) => id)).toEqual([
      "session-4",
      "session-3",
      "session-2",
    ]);
    const second = await jsonHere(["sessions", "--before", first.value.before, "--store", path]);
    expect(second.value.sessions.map(({ id }: { id: string }) => id)).toEqual(["session-1", "session-0"]);
    expect(second.value.before).toBeUndefined();
    expect(second.value.sessions.map(({ number }: { number: number }) => number)).toEqual([4, 5]);
    const { stdout } = await runHere(["sessions", "--limit", "3", "--store", path]);
    expect(stdout).toContain("older: longhaul sessions --before session-2");
  });

  test("longhaul sessions reads the store of LONGHAUL_HOME", async () => {
    const store = await storeWithTicket();
    expect((await runJson(["sessions"], { env: { LONGHAUL_HOME: store } })).value.sessions).toHaveLength(2);
  });

  proofTest("longhaul sessions does not create a missing store", async () => {
    const store = join(testFolder(), "typo");
    const { code, stderr } = await runHere(["sessions", "--store", store]);
    expect(code).toBe(1);
    expect(stderr).toContain(`There is no store at ${store}`);
    expect(existsSync(store)).toBe(false);
  });
});
