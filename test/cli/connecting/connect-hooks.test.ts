import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HOOK_SETUPS } from "../../../src/adapters/hooks/index.ts";
import { testFolder } from "../../support/folder.ts";
import { runHere } from "../support/here.ts";
import { FILES, homeWith, snapshotOf } from "./home.ts";

const OWN_HOOK = '{"matcher": "Bash",  "hooks": [{"type": "command", "command": "mine"}]}';
const HOOKED = {
  ...FILES,
  ".claude/settings.json": `{\n  "model": "opus",\n  "hooks": {\n    "PreToolUse": [ ${OWN_HOOK} ]\n  }\n}\n`,
  ".gemini/settings.json": '{\n  // mine\n  "ui": {}\n}\n',
};

test("connect --hooks adds hooks to every agent next to the user's own, and disconnect restores every byte", async () => {
  const [home, store] = [homeWith(HOOKED), testFolder()];
  const before = snapshotOf(home);
  const agents = Object.keys(HOOK_SETUPS);
  const connected = await runHere(["connect", "--hooks", ...agents, "--yes", "--store", store], { home });
  expect(connected.code, connected.stderr).toBe(0);
  const settings = JSON.parse(readFileSync(join(home, ".claude/settings.json"), "utf8"));
  expect(settings.hooks.PreToolUse[0].hooks[0].command).toBe("mine");
  expect(settings.hooks.PreToolUse).toHaveLength(3);
  expect(settings.hooks.UserPromptSubmit[0].hooks[0].command).toMatch(/ hook .*prompt --client claude-code$/);
  expect(settings.statusLine.command).toContain("statusline");
  const skill = readFileSync(join(home, ".agents/skills/longhaul-memory/SKILL.md"), "utf8");
  expect(skill).toContain("name: longhaul-memory");
  expect(readFileSync(join(home, ".cursor/hooks.json"), "utf8")).toContain("beforeSubmitPrompt");

  const again = await runHere(["connect", "--hooks", ...agents, "--yes", "--store", store], { home });
  expect(again.stdout).toContain("already connected");
  expect((await runHere(["disconnect", "--hooks", "--store", store], { home })).code).toBe(0);
  expect(snapshotOf(home)).toEqual(before);
});

test("the gateway, the hooks and the MCP server of an agent are disconnected together", async () => {
  const [home, store] = [homeWith(HOOKED), testFolder()];
  const before = snapshotOf(home);
  const options = ["claude-code", "--yes", "--store", store];
  for (const flag of [["--url", "http://127.0.0.1:4747"], ["--mcp"], ["--hooks"]])
    expect((await runHere(["connect", ...flag, ...options], { home })).code).toBe(0);
  expect((await runHere(["disconnect", "--store", store], { home })).code).toBe(0);
  expect(snapshotOf(home)).toEqual(before);
});

test("a dry run of connect --hooks shows the hooks and writes nothing", async () => {
  const [home, store] = [homeWith(HOOKED), testFolder()];
  const before = snapshotOf(home);
  const shown = await runHere(["connect", "--hooks", "codex", "--dry-run", "--store", store], { home });
  expect(shown.stdout).toContain("UserPromptSubmit");
  expect(shown.stdout).toContain("Codex asks once");
  expect(snapshotOf(home)).toEqual(before);
});
