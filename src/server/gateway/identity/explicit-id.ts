import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import type { WireObject } from "../../../wire/wire.ts";

/** The ids by which a request names its own conversation. */
interface ExplicitId {
  readonly id: string;
  /** The header or field that the id comes from. */
  readonly source: string;
  readonly client?: string;
  /** Id of the sub-agent inside the session; absent for the main agent. */
  readonly agent?: string;
  /** The session or agent that started this one. */
  readonly parent?: string;
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
const PARENT_HEADERS = ["x-parent-session-id", "x-codex-parent-thread-id", "x-claude-code-parent-agent-id"];

const MAX_LENGTH = 256;

/** Values that clients send in place of a missing id. */
const PLACEHOLDERS = new Set(
  "default none null undefined unknown session anonymous global user true false".split(" "),
);

/** The id of the session that a request names; undefined if it names none. Ids of people are never accepted. */
export function findExplicitId(request: {
  readonly headers: RequestHeaders;
  readonly fields: WireObject;
}): ExplicitId | undefined {
  const { headers, fields } = request;
  const client = detectClient(headers);
  const found = findNamedId(headers, fields, client !== undefined);
  if (!found) return undefined;
  const parents = PARENT_HEADERS.map((name) => parseId(findHeader(headers, name)));
  const parent = parents.find((id) => id !== undefined);
  const purpose = parseId(findHeader(headers, "x-openai-subagent"));
  const agent = findAgentId(headers, found.id, purpose);
  return {
    ...found,
    ...dropUndefined({ client, agent }),
    ...(parent !== undefined && parent !== found.id && { parent }),
    ...dropUndefined({ purpose }),
  };
}

type NamedId = Pick<ExplicitId, "id" | "source">;

function findNamedId(
  headers: RequestHeaders,
  fields: WireObject,
  isKnownClient: boolean,
): NamedId | undefined {
  const own = parseId(findHeader(headers, SESSION_HEADER));
  if (own !== undefined) return { id: own, source: SESSION_HEADER };
  const people = new Set([fields.user, fields.safety_identifier, objectOf(fields.metadata).user_id]);
  const metadata = objectOf(fields.metadata);
  const clientMetadata = objectOf(fields.client_metadata);
  const values: [source: string, value: unknown][] = [];
  for (const name of ID_HEADERS) values.push([name, findHeader(headers, name)]);
  values.push(["metadata.user_id", parseUserIdSession(metadata.user_id)]);
  values.push(["conversation", objectOf(fields.conversation).id ?? fields.conversation]);
  for (const name of BODY_FIELDS) values.push([name, fields[name]]);
  for (const name of METADATA_FIELDS) values.push([`metadata.${name}`, metadata[name]]);
  for (const name of METADATA_FIELDS) values.push([`client_metadata.${name}`, clientMetadata[name]]);
  if (isKnownClient) values.push(["prompt_cache_key", keepUnique(fields.prompt_cache_key)]);
  for (const [source, value] of values) {
    const id = parseId(value);
    const lower = id?.toLowerCase() ?? "";
    if (id !== undefined && !people.has(id) && lower !== source && !PLACEHOLDERS.has(lower))
      return { id, source };
  }
  return undefined;
}

/** Claude Code puts its session into the user id: as JSON, or as "user_…_account_…_session_…". */
function parseUserIdSession(value: unknown): unknown {
  if (typeof value !== "string" || value.length > 4 * MAX_LENGTH) return undefined;
  if (value.startsWith("{")) {
    try {
      return objectOf(JSON.parse(value)).session_id;
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
  const claude = parseId(findHeader(headers, "x-claude-code-agent-id"));
  if (claude !== undefined) return claude;
  const isChild = purpose !== undefined || findHeader(headers, "x-codex-parent-thread-id") !== undefined;
  if (!isChild || purpose === "compact") return undefined;
  const thread = parseId(findHeader(headers, "thread-id")) ?? parseId(findHeader(headers, "conversation_id"));
  return thread !== undefined && thread !== session ? thread : purpose;
}

function parseId(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const id = value.trim();
  return id.length > 0 && id.length <= MAX_LENGTH && !/\p{C}/u.test(id) ? id : undefined;
}

function objectOf(value: unknown): WireObject {
  return typeof value === "object" && value !== null ? (value as WireObject) : {};
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

/** The name of the client, used for labels and to interpret its cache keys. `lead` is the system prompt. */
export function detectClient(headers: RequestHeaders, lead = ""): string | undefined {
  const headerText = ["originator", "user-agent", "x-title", "x-openrouter-title", "x-client-name"]
    .map((name) => findHeader(headers, name) ?? "")
    .join("\n")
    .toLowerCase();
  const byAgent = USER_AGENTS.find(([mark]) => mark.test(headerText));
  if (byAgent) return byAgent[1];
  const byHeader = OWN_HEADERS.find(([name]) => findHeader(headers, name) !== undefined);
  if (byHeader) return byHeader[1];
  const head = lead.slice(0, LEAD_HEAD);
  return LEAD_MARKS.find(([mark]) => mark.test(head))?.[1];
}

/** Headers of a request, by lower-case name. */
type RequestHeaders = { readonly [name: string]: string | readonly string[] | undefined };

/** The value of a header, or the first value if it was sent several times. */
function findHeader(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : value?.[0];
}
