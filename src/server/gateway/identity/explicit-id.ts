import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { toObject } from "../../../wire/fields.ts";
import type { WireObject } from "../../../wire/wire.ts";

/** The ids by which a request names its own conversation. */
interface ExplicitId {
  readonly id: string;
  /** The header or field that the id comes from. */
  readonly source: string;
  /** Id of the sub-agent inside the session; absent for the main agent. */
  readonly agent?: string;
  /** Purpose declared by the client, such as "compact" or "review". */
  readonly purpose?: string;
}

/** The gateway's own header. Any value is accepted, because a client that sends it names a session on purpose. */
const SESSION_HEADER = "x-longhaul-session";

/** Headers that name a session, most reliable first. */
const ID_HEADERS = [
  "x-claude-code-session-id",
  "session-id",
  "session_id",
  "x-opencode-session",
  "x-session-id",
  "x-session-affinity",
  "agent-session-id",
  "x-agent-session-id",
  "goose-session-id",
  "x-amp-thread-id",
  "x-kilocode-taskid",
  "x-roo-task-id",
  "x-task-id",
  "x-litellm-session-id",
  "helicone-session-id",
  "conversation-id",
  "conversation_id",
  "thread-id",
  "thread_id",
  "x-conversation-id",
  "x-chat-id",
];

const BODY_FIELDS = ["session_id", "conversation_id", "thread_id", "litellm_session_id"];
const METADATA_FIELDS = ["session_id", "conversation_id", "thread_id", "sessionId", "chat_id"];

const MAX_LENGTH = 256;

/** Values that clients send in place of a missing id. */
const PLACEHOLDERS = new Set(
  "default none null undefined unknown session anonymous global user true false".split(" "),
);

/**
 * The id of the session that a request names; undefined if it names none. Ids of people are never accepted. `client` is
 * the one that the headers tell.
 */
export function findExplicitId(
  request: { readonly headers: RequestHeaders; readonly fields: WireObject },
  client: string | undefined = detectClient(request.headers),
): ExplicitId | undefined {
  const { headers, fields } = request;
  const found = findNamedId(headers, fields, client !== undefined);
  if (!found) return undefined;
  const purpose = parseId(headers["x-openai-subagent"]);
  const agent = findAgentId(headers, found.id, purpose);
  return { ...found, ...dropUndefined({ agent, purpose }) };
}

type NamedId = Pick<ExplicitId, "id" | "source">;

function findNamedId(
  headers: RequestHeaders,
  fields: WireObject,
  isKnownClient: boolean,
): NamedId | undefined {
  const own = parseId(headers[SESSION_HEADER]);
  if (own !== undefined) return { id: own, source: SESSION_HEADER };
  const metadata = toObject(fields.metadata) ?? {};
  const clientMetadata = toObject(fields.client_metadata) ?? {};
  const people = [fields.user, fields.safety_identifier, metadata.user_id];
  const values: [source: string, value: unknown][] = [];
  for (const name of ID_HEADERS) values.push([name, headers[name]]);
  values.push(["metadata.user_id", parseUserIdSession(metadata.user_id)]);
  values.push(["conversation", toObject(fields.conversation)?.id ?? fields.conversation]);
  for (const name of BODY_FIELDS) values.push([name, fields[name]]);
  for (const name of METADATA_FIELDS) values.push([`metadata.${name}`, metadata[name]]);
  for (const name of METADATA_FIELDS) values.push([`client_metadata.${name}`, clientMetadata[name]]);
  if (isKnownClient) values.push(["prompt_cache_key", keepUnique(fields.prompt_cache_key)]);
  for (const [source, value] of values) {
    const id = parseId(value);
    const lower = id?.toLowerCase() ?? "";
    if (id !== undefined && !people.includes(id) && lower !== source && !PLACEHOLDERS.has(lower))
      return { id, source };
  }
  return undefined;
}

/** Claude Code puts its session into the user id: as JSON, or as "user_…_account_…_session_…". */
function parseUserIdSession(value: unknown): unknown {
  if (typeof value !== "string" || value.length > 4 * MAX_LENGTH) return undefined;
  if (value.startsWith("{")) {
    try {
      return toObject(JSON.parse(value))?.session_id;
    } catch {
      return undefined;
    }
  }
  return /_session_([0-9a-z-]{8,})$/i.exec(value)?.[1];
}

/**
 * A program may use one cache key for all its requests. The key therefore counts only for known agents and only if it
 * looks unique; other conversations are told apart by their messages.
 */
function keepUnique(value: unknown): unknown {
  if (typeof value !== "string") return undefined;
  const digits = value.match(/\d/g)?.length ?? 0;
  const isUuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-/i.test(value);
  return isUuid || (value.length >= 16 && digits >= 4) ? value : undefined;
}

/** Sub-agents share the session's id; Claude Code and Codex also send the id of the sub-agent. */
function findAgentId(
  headers: RequestHeaders,
  session: string,
  purpose: string | undefined,
): string | undefined {
  const claude = parseId(headers["x-claude-code-agent-id"]);
  if (claude !== undefined) return claude;
  const isChild = purpose !== undefined || headers["x-codex-parent-thread-id"] !== undefined;
  if (!isChild || purpose === "compact") return undefined;
  const thread = parseId(headers["thread-id"]) ?? parseId(headers.conversation_id);
  return thread !== undefined && thread !== session ? thread : purpose;
}

function parseId(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const id = value.trim();
  return id.length > 0 && id.length <= MAX_LENGTH && !/\p{C}/u.test(id) ? id : undefined;
}

/** Patterns of client names in user agents, most specific first, because some clients are built on others. */
const USER_AGENTS: readonly (readonly [RegExp, string])[] = [
  [/claude-(cli|code)/, "claude-code"],
  [/codex/, "codex"],
  [/kilo/, "kilo-code"],
  [/opencode/, "opencode"],
  [/openclaw|clawdbot|moltbot/, "openclaw"],
  [/\broo/, "roo-code"],
  [/\bcline/, "cline"],
  [/\bcontinue/, "continue"],
  [/\bgoose/, "goose"],
  [/aider/, "aider"],
  [/\bzed\//, "zed"],
  [/cursor/, "cursor"],
  [/gemini-?cli/, "gemini-cli"],
  [/qwen-?code/, "qwen-code"],
  [/kimi/, "kimi-code"],
  [/copilot/, "copilot"],
  [/charm-crush|\bcrush\//, "crush"],
  [/factory-cli|\bdroid/, "droid"],
  [/\bamp\//, "amp"],
  [/openhands/, "openhands"],
  [/hermes/, "hermes"],
  [/grok-(shell|build)/, "grok-build"],
  [/\bpi(-coding-agent)?\//, "pi"],
];

/** Headers in which clients send their names. */
const NAME_HEADERS = ["originator", "user-agent", "x-title", "x-openrouter-title", "x-client-name"];

/** Headers that only one client sends. */
const OWN_HEADERS: readonly (readonly [string, string])[] = [
  ["x-claude-code-session-id", "claude-code"],
  ["x-codex-window-id", "codex"],
  ["x-codex-turn-metadata", "codex"],
  ["x-kilocode-taskid", "kilo-code"],
  ["x-amp-thread-id", "amp"],
];

/** Names in the system prompts of clients that send the user agent of a library. */
const LEAD_MARKS: readonly (readonly [RegExp, string])[] = [
  [/\binside pi\b|\bpi coding agent\b/i, "pi"],
  [/\bClaude Code\b|\bClaude Agent SDK\b/, "claude-code"],
  [/\bOpenClaw\b/, "openclaw"],
  [/\byou are opencode\b/i, "opencode"],
  [/\byou are cline\b/i, "cline"],
  [/\byou are roo\b/i, "roo-code"],
  [/\bgoose\b.{0,40}\bBlock\b/, "goose"],
  [/\bCodex CLI\b|\byou are Codex\b/i, "codex"],
];

const LEAD_HEAD = 1_000;

/** The name of the client as its headers tell it, used for labels and to interpret its cache keys. */
export function detectClient(headers: RequestHeaders): string | undefined {
  const names = NAME_HEADERS.map((name) => headers[name] ?? "").join("\n");
  const lower = names.toLowerCase();
  for (const [mark, client] of USER_AGENTS) if (mark.test(lower)) return client;
  for (const [name, client] of OWN_HEADERS) if (headers[name] !== undefined) return client;
  return undefined;
}

/** The name of the client as its system prompt tells it; used for labels only. */
export function findNamedClient(lead: string): string | undefined {
  const head = lead.slice(0, LEAD_HEAD);
  for (const [mark, client] of LEAD_MARKS) if (mark.test(head)) return client;
  return undefined;
}

/** Headers of a request, by lower-case name. */
type RequestHeaders = { readonly [name: string]: string | readonly string[] | undefined };
