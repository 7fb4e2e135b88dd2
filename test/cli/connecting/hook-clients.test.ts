import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { claudeCode } from "../../../clients/agents/claude-code.ts";
import { codex } from "../../../clients/agents/codex.ts";
import { geminiCli } from "../../../clients/agents/gemini-cli.ts";
import { opencode } from "../../../clients/agents/opencode.ts";
import { findInstalled } from "../../../clients/install.ts";
import { runProcess } from "../../../clients/run-process.ts";
import { testFolder } from "../../support/folder.ts";
import { proofTest } from "../../support/proof.ts";
import { startUpstream } from "../../support/upstream.ts";
import { runHere } from "../support/here.ts";
import { MAIN, runProgram, startProgram } from "../support/program.ts";
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
] as const;

proofTest.for(CLIENTS)(
  "the request of $agent.name holds the sentence that its prompt asks for, without a gateway or a tool call",
  async ({ agent, api, options }, { skip }) => {
    const installed = findInstalled(agent);
    if (installed === undefined) return skip("it is not installed; npm run clients installs it");
    const [store, cwd, bin, runtime] = [testFolder(), testFolder(), testFolder(), testFolder()];
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
      LONGHAUL_HOOK_LIMIT_MS: "20000",
    };
    expect((await runHere(["import", "--yes", "--store", store], { home })).code).toBe(0);
    const before = snapshotOf(home);
    const connected = await runHere(["connect", "--hooks", agent.name, "--yes", "--store", store], {
      home,
      env,
    });
    expect(connected.code, connected.stderr).toBe(0);
    const hooks = startProgram(["serve", "--hooks-only", "--json", "--store", store], { env });
    await hooks.says("listening");
    // Loads the index, which takes longer than an agent waits on a busy machine.
    const input = JSON.stringify({ session_id: "before", cwd, prompt: QUESTION });
    const first = await runProgram(["hook", "prompt", "--store", store], { env, input });
    expect(first.stdout).toContain(SENTENCE);

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
    // Gemini CLI writes its settings again in a layout of its own.
    const after = snapshotOf(home);
    for (const path of Object.keys(agent.files(pointed))) {
      if (agent === geminiCli) expect(after[path], path).not.toContain("longhaul hook");
      else expect(after[path], path).toBe(before[path]);
    }
  },
);

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
