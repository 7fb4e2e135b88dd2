import { createHash } from "node:crypto";
import type { Kernel, MessageInput, Role } from "../../../kernel/index.ts";
import { computeDigest } from "../../../model/base/digest.ts";
import { ADDED_TAGS, buildTagPattern, getTagNames } from "../../../model/message-tags.ts";
import { removeElements } from "../../../model/remove-elements.ts";
import type { WireName } from "../../../wire/wire.ts";
import { buildCanonicalKey } from "./canonical-key.ts";
import { getSessionPrefix, listPersonIds, type PersonIds } from "./person-ids.ts";
import { getMessageText } from "./request-kind.ts";

const MAX_ID = 160;
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
  return `${getSessionPrefix(person)}${client}:${shortenId(own)}`;
}

/** Shortens long ids and adds a digest of the whole, to keep them distinct. */
function shortenId(id: string): string {
  if (id.length <= MAX_ID) return id;
  return `${id.slice(0, MAX_ID - DIGEST_DIGITS - 1)}~${computeDigest(id, DIGEST_DIGITS)}`;
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
    return this.#findPaths(this.#scope, 1);
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
