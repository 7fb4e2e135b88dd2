import { parseJsonOrUndefined, toObject } from "../../wire/fields.ts";

/** The moments at which an agent calls. */
export const HOOK_EVENTS = [
  "session-start",
  "prompt",
  "before-edit",
  "before-command",
  "after-failure",
  "before-compaction",
  "after-compaction",
  "session-end",
] as const;

export type HookEvent = (typeof HOOK_EVENTS)[number];

/** Agents that call hooks. */
export const HOOK_CLIENTS = [
  "claude-code",
  "codex",
  "opencode",
  "gemini-cli",
  "cursor",
  "qwen-code",
  "copilot",
] as const;

export type HookClientName = (typeof HOOK_CLIENTS)[number];

/** A call of a hook, whatever the agent's own form is. */
export interface HookCall {
  readonly client: HookClientName;
  readonly event: HookEvent;
  /** The agent's own name of the event, which its answer repeats. */
  readonly eventName: string;
  /** The agent's id of the conversation. */
  readonly session: string | undefined;
  /** The folder that the agent works in. */
  readonly folder: string | undefined;
  readonly transcript: string | undefined;
  readonly prompt: string;
  readonly tool: { readonly name: string; readonly input: unknown; readonly output: string } | undefined;
  /** True if the agent itself says that the tool failed. */
  readonly isFailed: boolean;
  /** The agent's own summary, where it hands it over after a compaction. */
  readonly summary: string | undefined;
}

/** The agents' names of events; those of tools become more exact by the tool. */
const EVENT_NAMES: Readonly<Record<string, HookEvent>> = {
  sessionstart: "session-start",
  userpromptsubmit: "prompt",
  userpromptsubmitted: "prompt",
  beforesubmitprompt: "prompt",
  beforeagent: "prompt",
  pretooluse: "before-command",
  beforetool: "before-command",
  beforeshellexecution: "before-command",
  posttooluse: "after-failure",
  posttoolusefailure: "after-failure",
  aftertool: "after-failure",
  precompact: "before-compaction",
  precompress: "before-compaction",
  postcompact: "after-compaction",
  sessionend: "session-end",
};

/**
 * Reads the JSON of a hook in the form of any known agent. `event` is the one that the agent was set up with; without it
 * the agent's own name of the event decides. Undefined if neither is known, or the JSON is not an object.
 */
export function readHookCall(
  client: HookClientName,
  input: unknown,
  event?: HookEvent | undefined,
): HookCall | undefined {
  const fields = toObject(input);
  if (!fields) return undefined;
  const find = (...names: readonly string[]) =>
    names.map((name) => fields[name]).find((value) => typeof value === "string" && value !== "") as
      | string
      | undefined;
  const eventName = find("hook_event_name", "hookEventName", "hookName") ?? "";
  const named = EVENT_NAMES[eventName.toLowerCase()];
  const isCompacted = fields.source === "compact" && (event ?? named) === "session-start";
  const known = isCompacted ? "after-compaction" : (event ?? named);
  if (known === undefined) return undefined;
  const [root] = Array.isArray(fields.workspace_roots) ? fields.workspace_roots : [];
  const command = find("command");
  const name = find("tool_name", "toolName") ?? (command === undefined ? undefined : "shell");
  const { toolArgs } = fields;
  const toolInput =
    fields.tool_input ??
    (typeof toolArgs === "string" ? parseJsonOrUndefined(toolArgs) : toolArgs) ??
    (command === undefined ? undefined : { command });
  const outputs = [
    fields.tool_response,
    fields.tool_output,
    fields.toolResult,
    fields.error,
    fields.error_message,
  ];
  return {
    client,
    event: known,
    eventName,
    session: find("session_id", "sessionId", "conversation_id", "sessionID"),
    folder: find("cwd", "directory") ?? (typeof root === "string" ? root : undefined),
    transcript: find("transcript_path", "transcriptPath"),
    prompt: clipMiddle(find("prompt", "submitted_prompt") ?? "", MAX_INPUT),
    tool:
      name === undefined
        ? undefined
        : { name, input: clipInput(toolInput), output: listTexts(outputs).join("\n") },
    isFailed: /failure$/i.test(eventName) || hasFailure(fields.tool_response ?? fields.toolResult),
    summary: find("compact_summary", "summary"),
  };
}

/** The answer in the form that the agent expects; undefined for agents and events that take no text. */
export function buildHookReply({ client, eventName, event }: HookCall, text: string): object | undefined {
  switch (client) {
    case "cursor":
      return event === "prompt" ? { continue: true, additional_context: text } : { additional_context: text };
    case "copilot":
      return { additionalContext: text };
    case "opencode":
      return { context: text };
    default:
      return { hookSpecificOutput: { hookEventName: eventName, additionalContext: text } };
  }
}

const MAX_DEPTH = 4;
/** Texts of an output, fields of an input, and characters of either that a search looks at: beginning and end. */
const MAX_TEXTS = 2_000;
const MAX_FIELDS = 200;
const MAX_OUTPUT = 256 * 1_024;
const MAX_INPUT = 64 * 1_024;

/** All texts in a tool's output, whatever its form, as far as a search looks at them. */
function listTexts(value: unknown): readonly string[] {
  const texts: string[] = [];
  let left = MAX_OUTPUT;
  const visit = (one: unknown, depth: number): void => {
    if (texts.length >= MAX_TEXTS || left <= 0) return;
    if (typeof one === "string") {
      texts.push(clipMiddle(one, left));
      left -= one.length;
    } else if (one !== null && typeof one === "object" && depth <= MAX_DEPTH)
      for (const key in one) {
        visit((one as Readonly<Record<string, unknown>>)[key], depth + 1);
        if (texts.length >= MAX_TEXTS || left <= 0) return;
      }
  };
  visit(value, 0);
  return texts;
}

/** A tool's input with long texts and lists cut, because a hook must not hold up everybody. */
function clipInput(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return clipMiddle(value, MAX_INPUT);
  if (value === null || typeof value !== "object") return value;
  if (depth > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) return value.slice(0, MAX_FIELDS).map((one) => clipInput(one, depth + 1));
  const fields: [string, unknown][] = [];
  for (const key in value) {
    if (fields.length >= MAX_FIELDS) break;
    fields.push([key, clipInput((value as Readonly<Record<string, unknown>>)[key], depth + 1)]);
  }
  return Object.fromEntries(fields);
}

/** The beginning and the end of a text that is longer than `most`. */
function clipMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  return `${text.slice(0, half)}\n…\n${text.slice(-half)}`;
}

function hasFailure(output: unknown): boolean {
  const fields = toObject(output);
  if (!fields) return false;
  const code = fields.exit_code ?? fields.exitCode;
  return (
    fields.is_error === true ||
    fields.isError === true ||
    fields.resultType === "failure" ||
    (typeof code === "number" && code !== 0) ||
    (fields.error !== undefined && fields.error !== null && fields.error !== "")
  );
}
