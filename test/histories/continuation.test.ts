import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { planContinuation } from "../../src/histories/continuing/continuation.ts";
import { importSources } from "../../src/histories/import-sources.ts";
import type { Kernel } from "../../src/kernel/index.ts";
import { conversationId, writeConversation } from "../cli/support/conversation.ts";
import { testFolder } from "../support/folder.ts";
import { testKernel } from "../support/kernel.ts";

const ID = `claude-code/${conversationId(1)}`;

async function importOne(): Promise<{
  readonly kernel: Kernel;
  readonly home: string;
  readonly path: string;
}> {
  const home = testFolder();
  const path = writeConversation(home, 1, 2);
  const folder = join(dirname(path), conversationId(1), "subagents");
  mkdirSync(folder, { recursive: true });
  const line = {
    ...{ type: "user", uuid: "s1", parentUuid: null, isSidechain: true, agentId: "x1" },
    ...{ sessionId: conversationId(1), cwd: "/project", timestamp: "2026-01-01T12:00:00.000Z" },
    message: { role: "user", content: "Look for it" },
  };
  writeFileSync(join(folder, "agent-x1.jsonl"), `${JSON.stringify(line)}\n`);
  const kernel = await testKernel();
  await importSources(kernel, [home], { withOriginals: true });
  return { kernel, home, path };
}

const systemOf = (home: string) => ({ home, platform: "linux", env: {} }) as const;

describe("a continuation", () => {
  test("a continuation includes the files of sub-agents", async () => {
    const { kernel, home, path } = await importOne();
    const { files } = await planContinuation(kernel, ID, { system: systemOf(home) });
    const folder = join(dirname(path), conversationId(1), "subagents");
    expect(files.map((file) => file.path)).toEqual([path, join(folder, "agent-x1.jsonl")]);
  });

  test("a continuation is written into the agent's folder on another computer, and never outside it", async () => {
    const { kernel, home } = await importOne();
    const other = testFolder();
    const projects = join(other, ".claude", "projects");
    const find = async () => (await planContinuation(kernel, ID, { system: systemOf(other) })).files;
    expect((await find())[0]?.path).toBe(join(projects, "-project", `${conversationId(1)}.jsonl`));
    await using session = await kernel.session(ID);
    const intake = await session.intake(`original:${ID}`);
    const [file] = intake.progress as [{ readonly pieces: [] }];
    for (const evil of [
      "~/.bashrc",
      "/etc/cron.d/evil",
      `${projects}/../../.bashrc`,
      "~/.claude/projects/../../.profile",
    ]) {
      await intake.save({ progress: [{ ...file, path: evil }] });
      const [planned] = await find();
      expect(planned?.path.startsWith(`${projects}/`)).toBe(true);
    }
    rmSync(home, { recursive: true });
  });

  test("a continuation is refused if its stored bytes are damaged", async () => {
    const { kernel, home } = await importOne();
    await using session = await kernel.session(ID);
    const intake = await session.intake(`original:${ID}`);
    const [file] = intake.progress as [{ readonly pieces: readonly (readonly [number, number, string])[] }];
    const pieces = file.pieces.map(([seq, size]) => [seq, size, "0".repeat(32)]);
    await intake.save({ progress: [{ ...file, pieces }] });
    const { files } = await planContinuation(kernel, ID, { system: systemOf(home) });
    const read = async () => {
      for await (const _ of files[0]?.pieces() ?? []);
    };
    await expect(read()).rejects.toMatchObject({ code: "BLOB_CORRUPT" });
  });
});
