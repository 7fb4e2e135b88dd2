import type { Json } from "./json.ts";

/** The facts of a session that tell how its agent continues it. */
interface ResumableSession {
  readonly id: string;
  readonly parent?: string;
  readonly meta?: { readonly [key: string]: Json };
}

/** Commands of agents that continue a conversation by its id, as a list of words. */
const COMMANDS: Readonly<Record<string, (id: string) => readonly string[]>> = {
  "claude-code": (id) => ["claude", "--resume", id],
  codex: (id) => ["codex", "resume", id],
  "copilot-cli": (id) => ["copilot", "--resume", id],
  "gemini-cli": (id) => ["gemini", "--resume", id],
  opencode: (id) => ["opencode", "--session", id],
  pi: (id) => ["pi", "--session", id],
  cline: (id) => ["cline", "--taskId", id],
  crush: (id) => ["crush", "--session", id],
  "cursor-cli": (id) => ["cursor-agent", "--resume", id],
  goose: (id) => ["goose", "session", "--resume", "--session-id", id],
  grok: (id) => ["grok", "--resume", id],
  kilo: (id) => ["kilo", "--session", id],
  kimi: (id) => ["kimi", "--session", id],
  "kimi-code": (id) => ["kimi", "--session", id],
  kiro: (id) => ["kiro-cli", "chat", "--resume-id", id],
  openhands: (id) => ["openhands", "--resume", id],
  "qwen-code": (id) => ["qwen", "--resume", id],
  vibe: (id) => ["vibe", "--resume", id],
};

/** Ids that agents give to conversations; anything else is not put into a command. */
const PLAIN_ID = /^[A-Za-z0-9][\w.-]{5,127}$/;

/**
 * The command with which the agent of a conversation continues it, for a POSIX shell; undefined if the agent has none or
 * its id of the conversation is unknown. Agents look for conversations in the folder where they were held.
 */
export function findResumeCommand({ id, parent, meta = {} }: ResumableSession): string | undefined {
  if (parent !== undefined) return undefined;
  const source = toFields(meta.source);
  const { agent, own } =
    typeof source.format === "string"
      ? { agent: source.format, own: source.id }
      : splitGatewayId(id, toFields(meta.gateway).client);
  if (typeof own !== "string") return undefined;
  const folder = [source, meta, toFields(meta.gateway)].map(({ cwd }) => cwd).find(isFolder);
  return formatResumeCommand(agent, own, folder);
}

/** The command with which an agent continues its own conversation, after the commands `before`. */
export function formatResumeCommand(
  agent: string,
  id: string,
  folder: string | undefined,
  before: readonly (readonly string[])[] = [],
): string | undefined {
  const command = Object.hasOwn(COMMANDS, agent) ? COMMANDS[agent] : undefined;
  if (!command || !PLAIN_ID.test(id)) return undefined;
  const commands = [...before, command(id)].map((words) => words.map(quoteWord).join(" "));
  return [...(isFolder(folder) ? [`cd ${quoteWord(folder)}`] : []), ...commands].join(" && ");
}

/** Conversations through the gateway are named after the client and its own id: `local/codex:01a1…`. */
function splitGatewayId(
  id: string,
  client: unknown,
): { readonly agent: string; readonly own: string | undefined } {
  const [, named = "", own] = /(?:^|\/)([a-z][a-z-]*):([^/]+)$/.exec(id) ?? [];
  return typeof client === "string" && client === named
    ? { agent: named, own }
    : { agent: "", own: undefined };
}

function toFields(value: Json | undefined): { readonly [field: string]: Json | undefined } {
  return typeof value === "object" && value !== null ? (value as { readonly [field: string]: Json }) : {};
}

function isFolder(value: unknown): value is string {
  return typeof value === "string" && value.startsWith("/") && !/\p{Cc}/u.test(value);
}

/** Quotes a word for a POSIX shell. */
function quoteWord(word: string): string {
  return /^[\w./+:@%-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
