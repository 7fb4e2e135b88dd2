import { createHash } from "node:crypto";
import type { Kernel, MessageInput, Role } from "../../../kernel/index.ts";
import { computeDigest } from "../../../model/base/digest.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { ADDED_TAGS, buildTagPattern, getTagNames } from "../../../model/message-tags.ts";
import { removeElements } from "../../../model/remove-elements.ts";
import { formatSessionKey, parseSessionKey } from "../../../model/session-key.ts";
import { toObject } from "../../../wire/fields.ts";
import type { WireName, WireObject } from "../../../wire/wire.ts";
import { buildCanonicalKey } from "./canonical-key.ts";
import { listPersonIds, type PersonIds } from "./person-ids.ts";
import { getMessageText } from "./request-kind.ts";
import { listQuotedRuns, listSummaryRuns } from "./summary-runs.ts";

const DIGEST_DIGITS = 32;

/** The caller of a request, as far as it identifies the conversation. */
export interface CallerIdentity {
  /** Principals never share sessions. */
  readonly principal: PersonIds;
  readonly api: WireName;
  /** The agent, if recognized; used only in names. */
  readonly client: string | undefined;
  /** The client's own id of the conversation. */
  readonly explicit: string | undefined;
  /** The sub-agent that sends the request, if the client names it. */
  readonly agent: string | undefined;
}

/**
 * Session id of a conversation; the same for the same caller, so that it is found again after a restart. `person` is
 * one of the ids of the caller's principal.
 */
export function buildRootId(
  caller: CallerIdentity,
  firstKey: string,
  ordinal: number,
  person: string = caller.principal.id,
): string {
  const { api, client = api, explicit } = caller;
  const own = explicit ?? `${firstKey.slice(0, 16)}${ordinal > 1 ? `-${ordinal}` : ""}`;
  return formatSessionKey({ person, client, own });
}

/** The ordinal of a session id among those that begin like `first`; 1 for any other id. */
export function findOrdinal(id: string, first: string): number {
  const [own, start] = [parseSessionKey(id)?.own, parseSessionKey(first)?.own];
  const [, begin, ordinal] = /^(.*)-(\d+)$/.exec(own ?? "") ?? [];
  return begin !== undefined && begin === start ? Number(ordinal) : 1;
}

/** True for the id of a conversation to which its client has given none. */
export function isUnnamed(id: string): boolean {
  const key = parseSessionKey(id);
  return key !== undefined && key.child === undefined && /^[0-9a-f]{16}(?:-\d+)?$/.test(key.own);
}

/** Session id of a secondary conversation. */
function buildChildId(root: string, kind: string, firstKey: string, ordinal: number): string {
  return `${root}/${kind}-${firstKey.slice(0, 8)}${ordinal > 1 ? `-${ordinal}` : ""}`;
}

/** The first child id that no session has. */
export async function findFreeChildId(
  kernel: Pick<Kernel, "find">,
  root: string,
  kind: string,
  firstKey: string,
): Promise<string> {
  for (let ordinal = 1; ; ordinal++) {
    const id = buildChildId(root, kind, firstKey, ordinal);
    if (!(await kernel.find(id))) return id;
  }
}

/** Context that clients add to a user message for one request and omit when they resume the conversation. */
const TEMPORARY_CONTEXT = new RegExp(`<(${buildTagPattern(ADDED_TAGS, "identity")})>`, "g");
/** Names without angle brackets, which some clients escape. */
const MARKS = getTagNames(ADDED_TAGS, "identity");

/**
 * The key by which a conversation is looked up: the key of its first message without the context added for one request.
 * `bytes` is the raw message; it is parsed only if it may contain such context.
 */
export function buildOpeningKey(
  first: { readonly key: string; input(): MessageInput },
  bytes: Buffer,
): string {
  if (!MARKS.some((mark) => bytes.includes(mark))) return first.key;
  const input = first.input();
  const words = getMessageText(input);
  const text = removeElements(words, TEMPORARY_CONTEXT, "").trim();
  if (text === "" || text === words.trim()) return first.key;
  const others = (input.parts ?? []).filter(({ type }) => type !== "text");
  return buildCanonicalKey({ role: input.role, text, parts: others });
}

/** The keys with the first one replaced by the opening key. */
export function replaceOpening(keys: readonly string[], opening: string): readonly string[] {
  return keys.length === 0 || keys[0] === opening ? keys : keys.with(0, opening);
}

/** A client that goes back a few turns, or joins its last replies, is found by a reply before them. */
const MAX_REPLIES = 4;

/** The messages of a request, by which its place in a conversation is found. */
interface PlacedRequest {
  readonly caller: CallerIdentity;
  /** The key of the first message without the context that the client adds for one request. */
  readonly firstKey: string;
  readonly keys: readonly string[];
  readonly roles: readonly Role[];
}

/**
 * The keys under which the store keeps the places of a request: the first message, each reply with everything before it,
 * and each reply by itself, for clients that trim their history. Keys of two owners never meet: an owner is a person
 * with an API, or the id that a client gives its conversation.
 */
export class PlaceKeys {
  /** Requests of the same family may belong to one conversation: they have one id, or begin with the same message. */
  readonly family: string;
  readonly #request: PlacedRequest;
  readonly #scope: string;
  /** The keys of all messages; that of the first without the context that the client adds for one request. */
  readonly path: readonly string[];
  /** Positions of the last replies, the last one first; a last message of the model is one that it shall continue. */
  readonly #replies: readonly number[];

  constructor(request: PlacedRequest) {
    const { caller, firstKey, keys, roles } = request;
    this.#request = request;
    this.#scope = buildScope(caller);
    this.family = caller.explicit === undefined ? `${this.#scope} ${firstKey}` : this.#scope;
    this.path = replaceOpening(keys, firstKey);
    const replies: number[] = [];
    for (let index = roles.length - 2; index >= 0 && replies.length < MAX_REPLIES; index--)
      if (roles[index] === "assistant") replies.push(index);
    this.#replies = replies;
  }

  /** The first message, for each id of the person. */
  findOpenings(): readonly string[] {
    return this.#scopes().map((scope) => buildOpeningPlace(scope, this.#request.firstKey));
  }

  /** The conversation of a sub-agent that the client names, for each id of the person. */
  findAgents(): readonly string[] {
    const { agent } = this.#request.caller;
    return agent === undefined ? [] : this.#scopes().map((scope) => buildAgentPlace(scope, agent));
  }

  /** The last reply by itself, for each id of the person. */
  findReplies(): readonly string[] {
    const reply = this.#request.keys[this.#replies[0] ?? -1];
    return reply === undefined ? [] : this.#scopes().map((scope) => buildReplyPlace(scope, reply));
  }

  /** The last reply with everything before it; none for a request without replies. */
  findPath(): readonly string[] {
    const last = this.#replies[0];
    return last === undefined ? [] : [buildPathPlace(this.#scope, this.path.slice(0, last + 1))];
  }

  /** The last few replies with everything before them, the longest first, for each id of the person. */
  findPaths(): readonly string[] {
    return this.#scopes().flatMap((scope) => this.#findPaths(scope, MAX_REPLIES));
  }

  /** The last reply with everything before it, in any conversation of the person. */
  findPersonPaths(): readonly string[] {
    return listPersonIds(this.#request.caller.principal).flatMap((person) => this.#findPaths(person, 1));
  }

  /** The keys of the first message that gets a separate session. */
  listOfFirst(): readonly string[] {
    return [...this.listOfOpening(), ...this.findPath()];
  }

  /** The keys of the message that a conversation begins with. */
  listOfOpening(): readonly string[] {
    const { caller, firstKey } = this.#request;
    const opening = buildOpeningPlace(this.#scope, firstKey);
    return caller.agent === undefined ? [opening] : [opening, buildAgentPlace(this.#scope, caller.agent)];
  }

  /** The keys of the reply to the request; of one that contains only new messages, if it `isPart`. */
  listOfReply(reply: string, isPart: boolean): readonly string[] {
    const own = buildReplyPlace(this.#scope, reply);
    if (isPart) return [own];
    const path = [...this.path, reply];
    const person = this.#request.caller.principal.id;
    return [own, buildPathPlace(this.#scope, path), buildPathPlace(person, path)];
  }

  /** The keys of a reply that is a summary, by its normalized forms. */
  listOfSummary(forms: readonly string[]): readonly string[] {
    const { caller } = this.#request;
    const scope = buildSummaryScope(caller);
    const runs = new Set(forms.flatMap(listSummaryRuns));
    return [buildAnySummaryPlace(scope), ...[...runs].map((run) => buildSummaryPlace(scope, run))];
  }

  /** All summaries of the person's conversations without an id, or of the conversation with this id. */
  findAnySummary(): readonly string[] {
    return this.#summaryScopes().map(buildAnySummaryPlace);
  }

  /** Those of them that some normalized texts quote. */
  findSummaries(texts: readonly string[]): readonly string[] {
    const runs = listQuotedRuns(texts);
    return this.#summaryScopes().flatMap((scope) => runs.map((run) => buildSummaryPlace(scope, run)));
  }

  #summaryScopes(): readonly string[] {
    const { caller } = this.#request;
    return listPersonIds(caller.principal).map((person) => buildSummaryScope(caller, person));
  }

  #scopes(): readonly string[] {
    const { caller } = this.#request;
    return listPersonIds(caller.principal).map((person) => buildScope(caller, person));
  }

  /** The last `most` replies with everything before them. */
  #findPaths(scope: string, most: number): readonly string[] {
    const last = this.#replies.slice(0, most);
    return last.map((index) => buildPathPlace(scope, this.path.slice(0, index + 1)));
  }
}

/** The owner of the keys: a person with an API, or the id that a client gives its conversation. */
function buildScope(caller: CallerIdentity, person: string = caller.principal.id): string {
  return caller.explicit === undefined
    ? buildUnnamedScope(person, caller.api)
    : buildRootId(caller, "", 1, person);
}

/** The owner of the keys of conversations without an id. */
export function buildUnnamedScope(person: string, api: string): string {
  return `${person} ${api}`;
}

/** The owner of summaries: a person may continue a conversation without an id over another API. */
function buildSummaryScope(caller: CallerIdentity, person: string = caller.principal.id): string {
  return caller.explicit === undefined ? person : buildRootId(caller, "", 1, person);
}

function buildAnySummaryPlace(scope: string): string {
  return computeDigest(`summary ${JSON.stringify(scope)}`, DIGEST_DIGITS);
}

function buildSummaryPlace(scope: string, run: string): string {
  return computeDigest(`summary ${JSON.stringify([scope, run])}`, DIGEST_DIGITS);
}

export function buildOpeningPlace(scope: string, firstKey: string): string {
  return computeDigest(`opening ${JSON.stringify([scope, firstKey])}`, DIGEST_DIGITS);
}

function buildAgentPlace(scope: string, agent: string): string {
  return computeDigest(`agent ${JSON.stringify([scope, agent])}`, DIGEST_DIGITS);
}

export function buildReplyPlace(scope: string, reply: string): string {
  return computeDigest(`reply ${JSON.stringify([scope, reply])}`, DIGEST_DIGITS);
}

/** The keys of each message with all before it. */
export function buildPathPlaces(scope: string, keys: readonly string[]): readonly string[] {
  const hash = createHash("sha256").update(`path ${JSON.stringify(scope)}`);
  return keys.map((key) => hash.update(`\n${key}`).copy().digest("hex").slice(0, DIGEST_DIGITS));
}

/** The key of the last of some messages with all before it. */
function buildPathPlace(scope: string, keys: readonly string[]): string {
  return computeDigest([`path ${JSON.stringify(scope)}`, ...keys].join("\n"), DIGEST_DIGITS);
}

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
  const sent = headers[SESSION_HEADER];
  const own = sent === undefined ? undefined : parseId(sent);
  if (own !== undefined) return { id: own, source: SESSION_HEADER };
  const metadata = toObject(fields.metadata) ?? {};
  const clientMetadata = toObject(fields.client_metadata) ?? {};
  const people = [fields.user, fields.safety_identifier, metadata.user_id];
  const values: [source: string, value: unknown][] = [];
  for (const name of ID_HEADERS) values.push([name, headers[name]]);
  if (metadata.user_id !== undefined) values.push(["metadata.user_id", parseUserIdSession(metadata.user_id)]);
  values.push(["conversation", toObject(fields.conversation)?.id ?? fields.conversation]);
  for (const name of BODY_FIELDS) values.push([name, fields[name]]);
  for (const name of METADATA_FIELDS) values.push([`metadata.${name}`, metadata[name]]);
  for (const name of METADATA_FIELDS) values.push([`client_metadata.${name}`, clientMetadata[name]]);
  if (isKnownClient) values.push(["prompt_cache_key", keepUnique(fields.prompt_cache_key)]);
  for (const [source, value] of values) {
    if (value === undefined) continue;
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
  let names = "";
  for (const name of NAME_HEADERS) names += `${headers[name] ?? ""}\n`;
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
