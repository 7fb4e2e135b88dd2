import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { planContinuation } from "../../src/histories/continuing/continuation.ts";
import { importSources } from "../../src/histories/import-sources.ts";
import { CONTINUED_AGENTS } from "../../src/histories/index.ts";
import type { Json, Kernel } from "../../src/kernel/index.ts";
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
    for (const evil of ["/srv/backup/-project/a.jsonl", `${projects}/../../a.jsonl`]) {
      await intake.save({ progress: [{ ...file, path: evil }] });
      const [planned] = await find();
      expect(planned?.path.startsWith(`${projects}/`)).toBe(true);
    }
    for (const evil of [
      "~/.bashrc",
      "/etc/cron.d/evil",
      `${projects}/../../.bashrc`,
      "~/.claude/projects/../../.profile",
      `${projects}/-project/\\..\\..\\..\\.zshenv`,
      `${projects}/-project/..\\..\\..\\a.jsonl`,
      "C:\\x\\projects\\..\\..\\a.jsonl",
      `${projects}/-project/.bash_login`,
      `${projects}/-project/run.sh`,
    ]) {
      await intake.save({ progress: [{ ...file, path: evil }] });
      const { files, notes } = await planContinuation(kernel, ID, { system: systemOf(other) });
      expect(files.map((one) => basename(one.path))).toEqual(["agent-x1.jsonl"]);
      expect(notes, evil).toHaveLength(1);
    }
    rmSync(home, { recursive: true });
  });

  test("a side file with a name that leads outside is left out of a continuation, and the continuation says so", async () => {
    const home = testFolder();
    const path = writeConversation(home, 1, 2);
    const results = join(dirname(path), conversationId(1), "tool-results");
    mkdirSync(results, { recursive: true });
    writeFileSync(join(results, "toolu_1.txt"), "much output");
    writeFileSync(join(results, "..\\..\\..\\..\\..\\.zshenv"), "echo owned");
    writeFileSync(join(results, "..\\..\\..\\..\\..\\a.txt"), "echo owned");
    const kernel = await testKernel();
    await importSources(kernel, [home], { withOriginals: true });
    const { files, notes } = await planContinuation(kernel, ID, { system: systemOf(home) });
    expect(files.map((file) => file.path)).toEqual([path, join(results, "toolu_1.txt")]);
    expect(notes).toHaveLength(2);
    expect(notes.join(" ")).toContain(".zshenv");
  });

  test("a continuation is refused where a link leads its folder outside of its agent's", async () => {
    const { kernel } = await importOne();
    const other = testFolder();
    mkdirSync(join(other, ".claude", "projects"), { recursive: true });
    symlinkSync(testFolder(), join(other, ".claude", "projects", "-project"));
    const plan = planContinuation(kernel, ID, { system: systemOf(other) });
    await expect(plan).rejects.toMatchObject({ code: "PATH_REFUSED" });
  });

  test.each(CONTINUED_AGENTS)(
    "a conversation with unusual content continues in %s with all words, and without texts that providers refuse",
    async (agent) => {
      const cwd = "/srv/prüfung 🧪/it's";
      const kernel = await testKernel();
      await using session = await kernel.session("odd", { title: "Ünïcode", meta: { source: { cwd } } });
      const call = (callId: string, name: string, input: Json) =>
        ({ type: "tool-call", callId, name, input }) as const;
      const result = (callId: string, ...texts: readonly string[]) =>
        ({
          type: "tool-result",
          callId,
          output: texts.map((text) => ({ type: "text", text }) as const),
        }) as const;
      const text = (value: string) => ({ type: "text", text: value }) as const;
      await session.append({ role: "user", text: "Look at Zürich 北京" });
      const calls = [
        call("c1", "Bash", { command: "ls 'a b'" }),
        call("c2", "Read", { file_path: `${cwd}/ä.txt` }),
        call("c3", "mcp__odd__thing", { deep: [1, { x: null }] }),
      ];
      await session.append({ role: "assistant", parts: calls });
      await session.append({ role: "tool", parts: [result("c1"), result("c2", ""), result("c3", "told")] });
      await session.append({
        role: "assistant",
        parts: [text("  "), call("c4", "Bash", { command: "sleep 1" })],
      });
      await session.append({ role: "user", text: "interrupted here" });
      await session.append({ role: "tool", parts: [result("ghost", "without a call")] });
      await session.append({ role: "assistant", text: "cut \ud83d" });
      const home = testFolder();
      const { files } = await planContinuation(kernel, "odd", { agent, system: systemOf(home) });
      for (const { path, pieces } of files) {
        mkdirSync(dirname(path), { recursive: true });
        for await (const piece of pieces()) appendFileSync(path, piece);
      }
      const written = files.map(({ path }) => readFileSync(path, "utf8")).join("\n");
      expect(written).not.toMatch(/[^\\]\\ud83d|"type": ?"(?:\w+_)?text",\s*"text": ?"\s*"/);
      const other = await testKernel();
      const paths = agent === "cline" ? [dirname(files[0]?.path ?? "")] : files.map(({ path }) => path);
      const { problems, totals } = await importSources(other, paths);
      expect([problems, totals.openCalls]).toEqual([[], 0]);
      const [record] = await other.sessions({ limit: 1 });
      // Cline names the folder in its list of tasks, Gemini CLI by a hash.
      if (agent !== "cline" && agent !== "gemini-cli") expect(JSON.stringify(record?.meta)).toContain(cwd);
      await using read = await other.session(record?.id as string);
      const stored = JSON.stringify(await read.read({ from: 1, to: (await read.head()).seq, limit: 100 }));
      for (const words of ["Zürich 北京", "ls 'a b'", "ä.txt", "odd__thing", "told", "sleep 1"])
        expect(stored).toContain(words);
      for (const words of ["interrupted here", "without a call", "cut \ufffd"])
        expect(stored).toContain(words);
    },
  );

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
