import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import type { Command } from "../../../clients/agents/agent.ts";
import { claudeCode } from "../../../clients/agents/claude-code.ts";
import { codex } from "../../../clients/agents/codex.ts";
import { copilot } from "../../../clients/agents/copilot.ts";
import { geminiCli } from "../../../clients/agents/gemini-cli.ts";
import { opencode } from "../../../clients/agents/opencode.ts";
import { qwenCode } from "../../../clients/agents/qwen-code.ts";
import { findInstalled } from "../../../clients/install.ts";
import { runProcess } from "../../../clients/run-process.ts";
import { testFolder } from "../../support/folder.ts";
import { proofTest } from "../../support/proof.ts";
import { startUpstream } from "../../support/upstream.ts";
import { runHere } from "../support/here.ts";
import { MAIN } from "../support/program.ts";
import { homeWith, snapshotOf } from "./home.ts";

const QUESTION = "On which port does the staging database listen?";
const SENTENCE = "Note that the staging database listens on port 6543.";
const DEADLINE_MS = 240_000;

const CLIENTS = [
  { agent: claudeCode, api: "anthropic", options: [] },
  { agent: opencode, api: "anthropic", options: [] },
  { agent: geminiCli, api: "google", options: [] },
  // Codex runs hooks that nobody has reviewed only if it is told so.
  { agent: codex, api: "openai-responses", options: ["--dangerously-bypass-hook-trust"] },
  { agent: qwenCode, api: "openai-chat", options: [] },
  { agent: copilot, api: "openai-chat", options: [] },
] as const;

proofTest.for(CLIENTS)(
  "hooks add the needed sentence to the request of $agent.name, without a gateway or a tool call",
  async ({ agent, api, options }, { skip }) => {
    const installed = findInstalled(agent);
    if (installed === undefined) return skip("it is not installed; npm run clients installs it");
    const [store, cwd, bin, runtime] = [storeFolder(), testFolder(), testFolder(), testFolder()];
    const upstream = await startUpstream();
    const pointed = { url: upstream.url, api, installed, home: "", project: cwd };
    const home = homeWith({ ...agent.files(pointed), ...historyIn(cwd) });
    const program = join(bin, "longhaul");
    writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
    chmodSync(program, 0o755);
    const env = {
      PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
      XDG_RUNTIME_DIR: runtime,
      // A busy machine must not decide the test.
      LONGHAUL_HOOK_LIMIT_MS: "4500",
      LONGHAUL_HOOKS_IDLE_MS: "30000",
    };
    expect((await runHere(["import", "--yes", "--store", store], { home })).code).toBe(0);
    const before = snapshotOf(home);
    const connected = await runHere(["connect", "--hooks", agent.name, "--yes", "--store", store], {
      home,
      env,
    });
    expect(connected.code, connected.stderr).toBe(0);
    const command = agent.command({ ...pointed, home }, QUESTION, true);
    if (!command) return skip("there is no program for this platform");
    const at = command.args.indexOf("exec") + 1;
    const args = [...command.args.slice(0, at), ...options, ...command.args.slice(at)];
    const closed = "http://127.0.0.1:9";
    const baseEnv = {
      ...env,
      HOME: home,
      TMPDIR: testFolder(),
      XDG_CONFIG_HOME: join(home, ".config"),
      HTTPS_PROXY: closed,
      https_proxy: closed,
      NO_PROXY: "127.0.0.1",
      no_proxy: "127.0.0.1",
    };
    mkdirSync(cwd, { recursive: true });
    const ended = await runProcess({ ...command, args }, { cwd, baseEnv, deadlineMs: DEADLINE_MS });
    const asked = upstream.heard.filter(({ body }) => body.includes(QUESTION));
    expect(asked.length, `${ended.stdout.slice(-2_000)}\n${ended.stderr.slice(-2_000)}`).toBeGreaterThan(0);
    expect(
      asked.some(({ body }) => body.includes(SENTENCE)),
      ended.stderr.slice(-2_000),
    ).toBe(true);

    expect((await runHere(["disconnect", agent.name, "--store", store], { home, env })).code).toBe(0);
    // Some agents write their settings again in their own layout.
    const after = snapshotOf(home);
    for (const path of Object.keys(after).filter((path) => !/^\.claude\/projects|\/logs\//.test(path)))
      expect(after[path], path).not.toMatch(/longhaul(?:'|")? hook/);
    if (agent === claudeCode || agent === codex)
      for (const path of Object.keys(agent.files(pointed))) expect(after[path], path).toBe(before[path]);
  },
);

proofTest(
  "a person who has read only the README gets a remembered answer within a minute",
  async ({ skip }) => {
    const installed = findInstalled(claudeCode);
    if (installed === undefined) return skip("it is not installed; npm run clients installs it");
    const [cwd, runtime, root] = [
      testFolder(),
      testFolder(),
      fileURLToPath(new URL("../../../", import.meta.url)),
    ];
    const upstream = await startUpstream();
    const pointed = { url: upstream.url, api: "anthropic", installed, project: cwd } as const;
    const home = homeWith(historyIn(cwd));
    // Only the time of the processes counts: a person answers the questions that --yes answers here.
    const baseEnv = {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      HOME: home,
      XDG_RUNTIME_DIR: runtime,
      LONGHAUL_HOOK_LIMIT_MS: "4500",
      LONGHAUL_HOOKS_IDLE_MS: "30000",
    };
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const commands = [...readme.matchAll(/^longhaul (import|connect --hooks) +#/gm)].map(
      ([, words = ""]) => words,
    );
    expect(commands).toHaveLength(2);
    expect(readme).toContain("`npm run longhaul -- <command>` runs them in a clone");
    const durations: number[] = [];
    const run = async (command: Command, folder: string) => {
      const ended = await runProcess(command, { cwd: folder, baseEnv, deadlineMs: DEADLINE_MS });
      expect(ended.exitCode, `${ended.stdout}\n${ended.stderr}`).toBe(0);
      durations.push(ended.durationMs);
    };
    for (const words of commands)
      await run({ program: "npm", args: ["run", "longhaul", "--", ...words.split(" "), "--yes"] }, root);
    await run(claudeCode.command({ ...pointed, home }, QUESTION, true) as Command, cwd);
    expect(upstream.heard.some(({ body }) => body.includes(SENTENCE))).toBe(true);
    const seconds = durations.map((ms) => ms / 1_000);
    console.info(`install to the first remembered answer, in seconds: ${seconds.join(" + ")}`);
    expect(seconds.reduce((sum, one) => sum + one, 0)).toBeLessThan(60);
  },
);

/** A folder for a store into which the end of an agent's session still imports when the test is over. */
function storeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "longhaul test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 200 }));
  return folder;
}

/** A history of Claude Code in which somebody names the port. */
function historyIn(project: string): Readonly<Record<string, string>> {
  const base = {
    cwd: project,
    sessionId: "5f0c9f0e-7d3a-4a53-9d43-0b8e8f1b2c3d",
    version: "2.1.0",
    userType: "external",
  };
  const user = { role: "user", content: SENTENCE };
  const reply = {
    role: "assistant",
    model: "claude-sonnet-4-5",
    content: [{ type: "text", text: "Noted." }],
  };
  const times = { first: "2026-03-01T10:00:00.000Z", second: "2026-03-01T10:00:05.000Z" };
  const lines = [
    { ...base, type: "user", uuid: "a1", parentUuid: null, timestamp: times.first, message: user },
    { ...base, type: "assistant", uuid: "a2", parentUuid: "a1", timestamp: times.second, message: reply },
  ];
  const folder = project.replaceAll(/[^a-zA-Z0-9]/g, "-");
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  return { [`.claude/projects/${folder}/${base.sessionId}.jsonl`]: text };
}
