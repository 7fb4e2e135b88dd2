import { appendFileSync, existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { eventually } from "../support/eventually.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { conversationId, turnLines, writeConversation } from "./support/conversation.ts";
import { runJson, runProgram, startProgram } from "./support/program.ts";

/** A home folder with Claude Code conversations, and an empty place for the store. */
function homeWithConversations(count: number, turns = 2) {
  const home = testFolder();
  for (let number = 1; number <= count; number++) writeConversation(home, number, turns);
  const store = join(testFolder(), "store");
  return {
    home,
    store,
    projects: join(home, ".claude", "projects"),
    env: { HOME: home, LONGHAUL_HOME: store },
  };
}

describe("longhaul import with a path", () => {
  test("longhaul import with a path imports all conversations, reports them, and finds nothing new the second time", async () => {
    const { env, projects } = homeWithConversations(2);
    const first = await runProgram(["import", projects], { env });
    expect(first.stderr).toBe("");
    expect(first.code).toBe(0);
    expect(first.stdout).toMatch(/claude-code +2 +0 +8 +8 +0 +4 +0 +4 /);
    expect(first.stdout).toContain("2 imported, 0 unchanged, 4 tool calls without a result.");
    const second = await runJson(["import", projects], { env });
    expect(second.code).toBe(0);
    expect(second.value).toMatchObject({ isDryRun: false, isStopped: false });
    expect(second.value.totals.added.messages).toBe(0);
    const sessions = await runJson(["sessions"], { env });
    expect(sessions.value.sessions).toHaveLength(2);
    const shown = await runProgram(["show", conversationId(1), "-q"], { env });
    expect(shown.stdout).toContain("question 1");
    expect(shown.stdout).toContain("→ Read file_path=notes.md limit=5");
  });

  proofTest("longhaul import resolves paths from the working folder", async () => {
    const { env, home } = homeWithConversations(1);
    const { value } = await runJson(["import", ".claude"], { env, cwd: home });
    expect(value.totals.sources).toBe(1);
  });

  test("longhaul import with a path writes nothing in a dry run", async () => {
    const { env, projects, store } = homeWithConversations(2);
    const { code, stdout } = await runProgram(["import", projects, "--dry-run"], { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/claude-code +2 +0 +8 +4 /);
    expect(stdout).toContain("2 conversations would be imported");
    expect(existsSync(store)).toBe(false);
  });

  test("longhaul import with a path names file and line of a loss, and ends with 3", async () => {
    const { env, projects } = homeWithConversations(1);
    const broken = join(projects, "-project", `${conversationId(1)}.jsonl`);
    appendFileSync(broken, '{"type":"user", this is not JSON}\n');
    const { code, stdout } = await runProgram(["import", projects, "-q"], { env });
    expect(code).toBe(3);
    expect(stdout).toContain(`${broken}:5: `);
    expect(stdout.trim().split("\n")).toHaveLength(1);
  });

  proofTest("longhaul import with a path can leave out other formats and old conversations", async () => {
    const { env, projects } = homeWithConversations(2);
    const old = new Date(Date.now() - 90 * 24 * 3_600_000);
    utimesSync(join(projects, "-project", `${conversationId(1)}.jsonl`), old, old);
    const recent = await runJson(["import", projects, "--dry-run", "--since", "30d"], { env });
    expect(recent.value.totals.sources).toBe(1);
    const { stdout } = await runProgram(["import", projects, "--dry-run", "--format", "codex,cline"], {
      env,
    });
    expect(stdout).toBe("No conversations in a known format found.\n");
  });

  test("longhaul import with a missing path fails with 1", async () => {
    const { env, home } = homeWithConversations(1);
    const { code, value } = await runJson(["import", join(home, "missing")], { env });
    expect(code).toBe(1);
    expect(value.error.code).toBe("SOURCE_UNREADABLE");
  });

  proofTest("longhaul import stops at Ctrl-C, keeps what it imported, and can be continued", async () => {
    const { env, projects, store } = homeWithConversations(150, 120);
    const running = startProgram(["import", projects], { env });
    await eventually("the store exists", () => existsSync(join(store, "log.db")));
    {
      await using kernel = await openKernel({ path: store });
      await eventually(
        "5 sessions are imported",
        async () => (await kernel.sessions({ limit: 5 })).length === 5,
      );
    }
    running.process.kill("SIGINT");
    const { code, stdout } = await running.ended;
    expect(code).toBe(130);
    expect(stdout).toContain("Stopped. Imported messages are kept");
    const again = await runJson(["import", projects], { env });
    expect(again.code).toBe(0);
    const { totals } = again.value;
    expect(totals.sources).toBe(150);
    expect(totals.added.messages).toBeLessThan(150 * 240);
    const { value } = await runJson(["sessions", "--limit", "1000"], { env });
    expect(value.sessions).toHaveLength(150);
    for (const { id } of value.sessions.slice(0, 3)) {
      const all = await runJson(["show", id, "--all", "-q"], { env });
      expect(all.value.entries).toHaveLength(240);
    }
  });
});

describe("longhaul import without a path", () => {
  test("longhaul import without a path lists the conversations of all agents, and says how to import them", async () => {
    const { env, projects, store } = homeWithConversations(3);
    const { code, stdout } = await runProgram(["import"], { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^agent +place +conversations +size +last used\nClaude Code +.+projects +3 +\d+ KB +just now\n/,
    );
    expect(stdout).toContain(`3 conversations to import into the store ${store}`);
    expect(stdout).toContain('Run "longhaul import --yes" to import these');
    expect(existsSync(store)).toBe(false);
    const { value } = await runJson(["import"], { env });
    expect(value.places).toEqual([
      expect.objectContaining({ format: "claude-code", path: projects, conversations: 3 }),
    ]);
  });

  test("longhaul import without a path imports everything with --yes", async () => {
    const { env } = homeWithConversations(3);
    const { code, value } = await runJson(["import", "--yes"], { env });
    expect(code).toBe(0);
    expect(value.totals.added.messages).toBe(12);
  });

  test("longhaul import without a path says that there are no conversations", async () => {
    const { env } = homeWithConversations(0);
    const { code, stdout } = await runProgram(["import"], { env });
    expect(code).toBe(0);
    expect(stdout).toBe(
      'No conversations found in the usual places. Run "longhaul import PATH" to search elsewhere.\n',
    );
  });
});

describe("longhaul import --watch", () => {
  proofTest(
    "longhaul import --watch imports new messages, one line per event, until it is interrupted",
    async () => {
      const { env, projects } = homeWithConversations(1, 1);
      const path = join(projects, "-project", `${conversationId(1)}.jsonl`);
      const running = startProgram(["import", projects, "--watch"], { env });
      await running.says("up to date, watching");
      appendFileSync(path, turnLines(conversationId(1), 1) + turnLines(conversationId(1), 2));
      await running.says(`imported claude-code/${conversationId(1)}: 4 messages, 2 tool calls\n`);
      running.process.kill("SIGINT");
      const { code, stdout, stderr } = await running.ended;
      expect(code).toBe(130);
      expect(stderr).toBe("");
      expect(stdout).toMatch(/Stopped: 6 messages of 1 conversation imported\.\n$/);
    },
  );

  proofTest("longhaul import --watch prints the same events as JSON lines", async () => {
    const { env, projects } = homeWithConversations(1, 1);
    mkdirSync(join(projects, "-other"));
    const running = startProgram(["import", projects, "--watch", "--json"], { env });
    await running.says('"idle"');
    const id = conversationId(2);
    writeFileSync(join(projects, "-other", `${id}.jsonl`), turnLines(id, 0));
    await running.says(`claude-code/${id}`);
    running.process.kill("SIGTERM");
    const { code, stdout } = await running.ended;
    expect(code).toBe(143);
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(["imported", "idle", "stopped"]));
    expect(events.at(-1)).toEqual({ type: "stopped", conversations: 2, messages: 4 });
    expect(readdirSync(env.LONGHAUL_HOME)).toContain("log.db");
  });
});
