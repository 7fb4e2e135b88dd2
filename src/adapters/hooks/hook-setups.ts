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

const CLAUDE_EDITS = "Edit|MultiEdit|Write|NotebookEdit";

/** The one description of every agent's hooks, from which settings and bundles are made. */
export const HOOK_SETUPS: Readonly<Record<HookClientName, HookClientSetup>> = {
  "claude-code": {
    title: "Claude Code",
    form: "groups",
    timeout: ["timeout", 5],
    hooks: [
      { event: "session-start", name: "SessionStart" },
      { event: "prompt", name: "UserPromptSubmit" },
      { event: "before-edit", name: "PreToolUse", matcher: CLAUDE_EDITS },
      { event: "before-command", name: "PreToolUse", matcher: "Bash" },
      { event: "after-failure", name: "PostToolUseFailure" },
      { event: "before-compaction", name: "PreCompact" },
      { event: "session-end", name: "SessionEnd" },
    ],
  },
  codex: {
    title: "Codex",
    form: "groups",
    timeout: ["timeout", 5],
    hooks: [
      { event: "session-start", name: "SessionStart" },
      { event: "prompt", name: "UserPromptSubmit" },
      { event: "before-edit", name: "PreToolUse", matcher: "apply_patch|Edit|Write" },
      { event: "before-command", name: "PreToolUse", matcher: "Bash" },
      { event: "after-failure", name: "PostToolUse", matcher: "Bash" },
      { event: "before-compaction", name: "PreCompact" },
      { event: "session-end", name: "SessionEnd" },
    ],
  },
  opencode: {
    title: "opencode",
    form: "module",
    timeout: ["timeout", 5_000],
    hooks: [
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
    hooks: [
      { event: "session-start", name: "SessionStart" },
      { event: "prompt", name: "UserPromptSubmit" },
      { event: "before-edit", name: "PreToolUse", matcher: "edit|write_file" },
      { event: "before-command", name: "PreToolUse", matcher: "run_shell_command" },
      { event: "after-failure", name: "PostToolUseFailure" },
      { event: "before-compaction", name: "PreCompact" },
      { event: "session-end", name: "SessionEnd" },
    ],
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
    const group: HookValue =
      form === "flat" ? call : { ...(matcher === undefined ? {} : { matcher }), hooks: [call] };
    settings[name] = [...(settings[name] ?? []), group];
  }
  return settings;
}

const TOKEN_HEADERS = {
  headers: { "x-longhaul-token": "$LONGHAUL_TOKEN" },
  allowedEnvVars: ["LONGHAUL_TOKEN"],
};

/**
 * The plugin module of opencode. It starts the program with each prompt, failed command and compaction, and adds the
 * answer to the message, to the result or to the prompt of the compaction.
 */
export function buildOpencodePlugin(program: string, args: readonly string[]): string {
  return `// Made by longhaul: recall at the moment of action. "longhaul disconnect --hooks" removes this file.
import { spawn } from "node:child_process";

const PROGRAM = ${JSON.stringify(program)};
const ARGS = ${JSON.stringify(args)};
const LIMIT_MS = ${HOOK_SETUPS.opencode.timeout[1]};

/** Calls longhaul; resolves to the text to add, or to undefined. Never rejects. */
function ask(event, fields) {
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, [...ARGS, event, "--client", "opencode"], { stdio: ["pipe", "pipe", "ignore"] });
    const timer = setTimeout(() => child.kill(), LIMIT_MS);
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (output += text));
    child.on("error", () => resolve(undefined));
    child.on("close", () => {
      clearTimeout(timer);
      try {
        resolve(JSON.parse(output).context);
      } catch {
        resolve(undefined);
      }
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end(JSON.stringify(fields));
  });
}

const Longhaul = async ({ directory }) => ({
  "chat.message": async ({ sessionID }, { message, parts }) => {
    const prompt = parts.flatMap((part) => (part.type === "text" && !part.synthetic ? [part.text] : [])).join("\\n");
    const text = await ask("prompt", { session_id: sessionID, cwd: directory, prompt });
    const last = parts.at(-1);
    if (text === undefined || last === undefined) return;
    parts.push({ ...last, id: last.id + "longhaul", type: "text", synthetic: true, text, messageID: message.id, sessionID });
  },
  "tool.execute.after": async ({ tool, sessionID, args }, output) => {
    const failed = output?.metadata?.exit !== undefined && output.metadata.exit !== 0;
    if (!failed) return;
    const tool_response = { text: output.output, exit_code: output.metadata.exit };
    const fields = { session_id: sessionID, cwd: directory, tool_name: tool, tool_input: args, tool_response };
    const text = await ask("after-failure", fields);
    if (text !== undefined) output.output += "\\n" + text;
  },
  "experimental.session.compacting": async ({ sessionID }, output) => {
    const text = await ask("after-compaction", { session_id: sessionID, cwd: directory });
    if (text !== undefined) output.context.push(text);
  },
});

export { Longhaul };
`;
}
