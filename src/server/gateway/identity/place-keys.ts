import { createHash } from "node:crypto";
import type { Role } from "../../../kernel/index.ts";
import { computeDigest } from "../../../model/base/digest.ts";
import { listPersonIds } from "./person-ids.ts";
import { buildRootId, type CallerIdentity, replaceOpening } from "./session-ids.ts";

const DIGITS = 32;
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
  readonly #request: PlacedRequest;
  readonly #scope: string;
  /** The keys of all messages; that of the first without the context that the client adds for one request. */
  readonly #path: readonly string[];
  /** Positions of the last replies, the last one first; a last message of the model is one that it shall continue. */
  readonly #replies: readonly number[];

  constructor(request: PlacedRequest) {
    const { caller, firstKey, keys, roles } = request;
    this.#request = request;
    this.#scope = buildScope(caller);
    this.#path = replaceOpening(keys, firstKey);
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
    const path = [...this.#path, reply];
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
    return last.map((index) => buildPathPlace(scope, this.#path.slice(0, index + 1)));
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
  return computeDigest(`opening ${JSON.stringify([scope, firstKey])}`, DIGITS);
}

function buildAgentPlace(scope: string, agent: string): string {
  return computeDigest(`agent ${JSON.stringify([scope, agent])}`, DIGITS);
}

export function buildReplyPlace(scope: string, reply: string): string {
  return computeDigest(`reply ${JSON.stringify([scope, reply])}`, DIGITS);
}

/** The keys of each message with all before it. */
export function buildPathPlaces(scope: string, keys: readonly string[]): readonly string[] {
  const hash = createHash("sha256").update(`path ${JSON.stringify(scope)}`);
  return keys.map((key) => hash.update(`\n${key}`).copy().digest("hex").slice(0, DIGITS));
}

/** The key of the last of some messages with all before it. */
function buildPathPlace(scope: string, keys: readonly string[]): string {
  return computeDigest([`path ${JSON.stringify(scope)}`, ...keys].join("\n"), DIGITS);
}
