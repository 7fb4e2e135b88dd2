import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { examineHistories } from "../../src/histories/examine-histories.ts";
import { importSources } from "../../src/histories/import-sources.ts";
import { conversationId, turnLines, writeConversation } from "../cli/support/conversation.ts";
import { testFolder } from "../support/folder.ts";
import { testKernel } from "../support/kernel.ts";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 5, 1);

function writeOld(home: string, number: number, ageDays: number): string {
  const path = writeConversation(home, number, 2);
  const at = new Date(NOW - ageDays * DAY);
  utimesSync(path, at, at);
  return path;
}

const look = (home: string, kernel?: Parameters<typeof examineHistories>[0]) =>
  examineHistories(kernel, { system: { home, platform: "linux", env: {} }, now: NOW });

describe("what agents delete", () => {
  test("the examination counts conversations that Claude Code deletes within 7 and 30 days", async () => {
    const home = testFolder();
    for (const [index, age] of [28, 24, 5, 0].entries()) writeOld(home, index, age);
    expect(await look(home)).toMatchObject([
      {
        agent: "claude-code",
        conversations: 4,
        notStored: 4,
        deletedWithin7Days: 2,
        deletedWithin30Days: 4,
        retention: { days: 30 },
      },
    ]);
  });

  test("a conversation that was deleted from the store is not counted as missing", async () => {
    const home = testFolder();
    const kernel = await testKernel();
    const { sources } = await importSources(kernel, [writeOld(home, 1, 28)]);
    await kernel.deleteSession(sources[0]?.session ?? "");
    expect(await look(home, kernel)).toMatchObject([{ conversations: 1, notStored: 0 }]);
  });

  test("a stored conversation is not counted, and counts again once it has grown", async () => {
    const home = testFolder();
    const kernel = await testKernel();
    const path = writeOld(home, 1, 28);
    await importSources(kernel, [path]);
    expect(await look(home, kernel)).toMatchObject([{ notStored: 0, deletedWithin7Days: 0 }]);
    appendFileSync(path, turnLines(conversationId(1), 2));
    const at = new Date(NOW - 27 * DAY);
    utimesSync(path, at, at);
    expect(await look(home, kernel)).toMatchObject([{ notStored: 1, deletedWithin7Days: 1 }]);
  });

  test("a conversation with an unstored sub-agent counts, as does a sub-agent without its conversation", async () => {
    const home = testFolder();
    const kernel = await testKernel();
    const path = writeOld(home, 1, 10);
    await importSources(kernel, [path]);
    for (const [number, age] of [
      [1, 28],
      [2, 5],
    ] as const) {
      const folder = join(dirname(path), conversationId(number), "subagents");
      mkdirSync(folder, { recursive: true });
      const agent = join(folder, "agent-abc.jsonl");
      writeFileSync(agent, turnLines(conversationId(number), 1));
      const at = new Date(NOW - age * DAY);
      utimesSync(agent, at, at);
    }
    const counts = { conversations: 2, notStored: 2, deletedWithin7Days: 1, deletedWithin30Days: 2 };
    expect(await look(home, kernel)).toMatchObject([counts]);
    await importSources(kernel, [dirname(path)]);
    expect(await look(home, kernel)).toMatchObject([{ conversations: 2, notStored: 0 }]);
  });

  test("the examination follows the retention period in the agent's settings", async () => {
    const home = testFolder();
    writeOld(home, 1, 10);
    const settings = join(home, ".claude", "settings.json");
    writeFileSync(settings, '{ "cleanupPeriodDays": 365 } // a comment');
    expect(await look(home)).toMatchObject([{ deletedWithin30Days: 0, retention: { days: 365 } }]);
    writeFileSync(settings, "not JSON");
    expect(await look(home)).toMatchObject([{ deletedWithin30Days: 1, retention: { days: 30 } }]);
  });

  test("an agent that deletes nothing is listed as such", async () => {
    const home = testFolder();
    const folder = join(home, ".pi", "agent", "sessions", "--repo--");
    mkdirSync(folder, { recursive: true });
    const header = {
      type: "session",
      version: 3,
      id: "abc-123456",
      timestamp: "2020-01-01T00:00:00Z",
      cwd: "/repo",
    };
    writeFileSync(join(folder, "one.jsonl"), `${JSON.stringify(header)}\n`);
    expect(await look(home)).toMatchObject([
      { agent: "pi", deletedWithin30Days: 0, retention: { rule: "kept until you delete them" } },
    ]);
  });
});
