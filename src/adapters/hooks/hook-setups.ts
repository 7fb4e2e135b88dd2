import { readFileSync } from "node:fs";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { resolvePackageFile } from "../../model/base/package-files.ts";
import type { HookClientName, HookEvent } from "./hook-call.ts";

/** One hook of an agent: our event, the agent's own name of it, and the tools that it is for. */
interface HookSetup {
  readonly event: HookEvent;
  readonly name: string;
  readonly matcher?: string;
}

/** The form of an agent's hooks. */
interface HookClientSetup {
  readonly title: string;
  /** "groups": lists of hooks under a matcher; "flat": lists of commands; "module": a plugin in JavaScript. */
  readonly form: "groups" | "flat" | "module";
  /** Name and value of the time limit of a hook, in the agent's own unit; the program itself stops earlier. */
  readonly timeout: readonly [name: string, value: number];
  readonly hooks: readonly HookSetup[];
}

/** The hooks of agents that take a matcher for tools; `failure` is the event after a tool. */
function listMatchedHooks(
  edits: string,
  command: string,
  failure: Omit<HookSetup, "event">,
): readonly HookSetup[] {
  return [
    { event: "session-start", name: "SessionStart" },
    { event: "prompt", name: "UserPromptSubmit" },
    { event: "before-edit", name: "PreToolUse", matcher: edits },
    { event: "before-command", name: "PreToolUse", matcher: command },
    { event: "after-failure", ...failure },
    { event: "before-compaction", name: "PreCompact" },
    { event: "session-end", name: "SessionEnd" },
  ];
}

/** The one description of every agent's hooks, from which settings and bundles are made. */
export const HOOK_SETUPS: Readonly<Record<HookClientName, HookClientSetup>> = {
  "claude-code": {
    title: "Claude Code",
    form: "groups",
    timeout: ["timeout", 5],
    hooks: listMatchedHooks("Edit|MultiEdit|Write|NotebookEdit", "Bash", { name: "PostToolUseFailure" }),
  },
  codex: {
    title: "Codex",
    form: "groups",
    timeout: ["timeout", 5],
    hooks: listMatchedHooks("apply_patch|Edit|Write", "Bash", { name: "PostToolUse", matcher: "Bash" }),
  },
  opencode: {
    title: "opencode",
    form: "module",
    timeout: ["timeout", 5_000],
    hooks: [
      { event: "session-start", name: "chat.message", matcher: "the first" },
      { event: "prompt", name: "chat.message" },
      { event: "after-failure", name: "tool.execute.after" },
      { event: "after-compaction", name: "experimental.session.compacting" },
    ],
  },
  "gemini-cli": {
    title: "Gemini CLI",
    form: "groups",
    timeout: ["timeout", 5_000],
    hooks: [
      { event: "session-start", name: "SessionStart" },
      { event: "prompt", name: "BeforeAgent" },
      { event: "after-failure", name: "AfterTool", matcher: "run_shell_command" },
      { event: "before-compaction", name: "PreCompress" },
      { event: "session-end", name: "SessionEnd" },
    ],
  },
  cursor: {
    title: "Cursor",
    form: "flat",
    timeout: ["timeout", 5],
    hooks: [
      { event: "session-start", name: "sessionStart" },
      { event: "prompt", name: "beforeSubmitPrompt" },
      { event: "after-failure", name: "postToolUseFailure" },
      { event: "before-compaction", name: "preCompact" },
      { event: "session-end", name: "sessionEnd" },
    ],
  },
  "qwen-code": {
    title: "Qwen Code",
    form: "groups",
    timeout: ["timeout", 5],
    hooks: listMatchedHooks("edit|write_file", "run_shell_command", { name: "PostToolUseFailure" }),
  },
  copilot: {
    title: "Copilot CLI",
    form: "flat",
    timeout: ["timeoutSec", 5],
    hooks: [
      { event: "session-start", name: "sessionStart" },
      { event: "prompt", name: "userPromptSubmitted" },
      { event: "after-failure", name: "postToolUse" },
      { event: "before-compaction", name: "preCompact" },
      { event: "session-end", name: "sessionEnd" },
    ],
  },
};

/** A value of a settings file. */
type HookValue = string | number | boolean | readonly HookValue[] | { readonly [name: string]: HookValue };

/** The hooks of an agent by its own names, each calling a command line or, with `url`, a gateway. */
export function buildHookSettings(
  client: HookClientName,
  toCommand: (event: HookEvent) => string,
  http?: { readonly url: string; readonly needsToken: boolean } | undefined,
): Readonly<Record<string, readonly HookValue[]>> {
  const { form, timeout, hooks } = HOOK_SETUPS[client];
  const settings: Record<string, HookValue[]> = {};
  for (const { event, name, matcher } of hooks) {
    const limit = { [timeout[0]]: timeout[1] };
    const call: HookValue =
      form === "flat"
        ? {
            ...(client === "copilot"
              ? { type: "command", bash: toCommand(event) }
              : { command: toCommand(event) }),
            ...limit,
          }
        : http
          ? { type: "http", url: http.url, ...(http.needsToken ? TOKEN_HEADERS : {}), ...limit }
          : { type: "command", command: toCommand(event), ...limit };
    const group: HookValue = form === "flat" ? call : dropUndefined({ matcher, hooks: [call] });
    settings[name] = [...(settings[name] ?? []), group];
  }
  return settings;
}

const TOKEN_HEADERS = {
  headers: { "x-longhaul-token": "$LONGHAUL_TOKEN" },
  allowedEnvVars: ["LONGHAUL_TOKEN"],
};

/** The plugin module of opencode, which starts the program with each prompt, failed command and compaction. */
export function buildOpencodePlugin(program: string, args: readonly string[]): string {
  return readFileSync(resolvePackageFile("plugins/opencode/longhaul.js"), "utf8")
    .replace(/^const PROGRAM = .*$/m, () => `const PROGRAM = ${JSON.stringify(program)};`)
    .replace(/^const ARGS = .*$/m, () => `const ARGS = ${JSON.stringify(args)};`);
}
