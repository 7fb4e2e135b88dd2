import { computeDigest } from "./base/digest.ts";
import type { SessionId } from "./entry.ts";

/** The person of sessions without a token: imports, and a gateway that has no tokens. */
export const LOCAL_PERSON = "local";

const MAX_NAME = 32;

/** The id of the person that a token is named after; no such id is "local" or begins like an import. */
export function buildPersonId(name: string): string {
  const encoded = encodeURIComponent(name.toWellFormed());
  const short = encoded.length <= MAX_NAME ? encoded : `${encoded.slice(0, 15)}~${computeDigest(name, 16)}`;
  return `@${short}`;
}

/** The known people by their ids, for names that ids shorten. */
export function mapPersonNames(people: readonly { readonly name: string }[]): ReadonlyMap<string, string> {
  return new Map(people.map(({ name }) => [buildPersonId(name), name]));
}

/** The name of the person that a session belongs to; a shortened one of an unknown person is shown as it is. */
export function findSessionOwner(session: string, names: ReadonlyMap<string, string> = new Map()): string {
  const [, id] = /^(?:memory:gateway:)?(@[^/]+)(?:\/|$)/.exec(session) ?? [];
  if (id === undefined) return LOCAL_PERSON;
  const known = names.get(id);
  if (known !== undefined) return known;
  try {
    return decodeURIComponent(id.slice(1));
  } catch {
    return id.slice(1);
  }
}

/** True if a session belongs to an owner that one of the prefixes stands for; without prefixes, everybody's does. */
export function isOwnSession(prefixes: readonly string[] | undefined, id: SessionId): boolean {
  return prefixes?.some((prefix) => id.startsWith(prefix)) ?? true;
}

/** The id without the prefix of its owner, if it has one of these. */
export function cutOwnPrefix(prefixes: readonly string[] | undefined, id: SessionId): string {
  return id.slice(prefixes?.find((prefix) => id.startsWith(prefix))?.length ?? 0);
}

/** Begins the ids of the sessions that hold memories. */
export const MEMORY_PREFIX = "memory:";

/** The agent whose memories a session holds; undefined for any other session. */
export function findMemoryOwner(id: SessionId): string | undefined {
  return id.startsWith(MEMORY_PREFIX) ? id.slice(MEMORY_PREFIX.length) : undefined;
}

/**
 * The parts of the id of a conversation. Ids are compared by their parts: the id of one conversation may begin with the
 * id of another, because clients choose their own.
 */
interface SessionKey {
  /** "local", "@" and a name, or 16 hexadecimal digits in old stores. */
  readonly person: string;
  readonly client: string;
  /** The client's own id, or the digest of the first message. */
  readonly own: string;
  /** The names of a secondary conversation and of those above it. */
  readonly child?: string;
}

const MAX_OWN = 160;
const DIGEST_DIGITS = 32;
/** A piece that names a secondary conversation by its kind and its first message. */
const CHILD = /\/(?:main|title|compaction|probe|aside|agent)-(?:[0-9a-f]{8})?(?:-\d+)?$/;
const DIGESTED = /~[0-9a-f]{32}$/;
const CONVERSATION = /^(local|@[^/]+|[0-9a-f]{16})\/([^/:]+):([\s\S]+)$/;

/** The id of a conversation; `child` is added as it is. */
export function formatSessionKey({ person, client, own, child }: SessionKey): SessionId {
  const id = `${person}/${client}:${encodeOwn(own)}`;
  return child === undefined ? id : `${id}/${child}`;
}

/** The parts of an id; undefined for an id of another form. `own` is encoded, as in the id. */
export function parseSessionKey(id: SessionId): SessionKey | undefined {
  const [, person, client, rest] = CONVERSATION.exec(id) ?? [];
  if (person === undefined || client === undefined || rest === undefined) return undefined;
  let own = rest;
  while (CHILD.test(own)) own = own.replace(CHILD, "");
  return own === rest ? { person, client, own } : { person, client, own, child: rest.slice(own.length + 1) };
}

/** The person in the id of a conversation. */
export function getPerson(id: SessionId): string {
  return id.slice(0, id.indexOf("/"));
}

/** The id of the conversation that a secondary one belongs to; any other id is returned as it is. */
export function getConversationId(id: SessionId): SessionId {
  const child = parseSessionKey(id)?.child;
  return child === undefined ? id : id.slice(0, -child.length - 1);
}

/** True if a session has a name as its own id: that of its client, or of the agent that it was imported from. */
export function isNamedSession(id: SessionId, name: string): boolean {
  const key = parseSessionKey(id);
  const own = key ? key.own : id.slice(id.indexOf("/") + 1);
  return id === name || (key?.child === undefined && (own === name || own === encodeOwn(name)));
}

/** True if a session is the one that a caller named, or a sub-agent of it. */
export function isWithinNamedSession(id: SessionId, name: string): boolean {
  const isImportedChild = !parseSessionKey(id) && id.slice(id.indexOf("/") + 1).startsWith(`${name}/`);
  return isImportedChild || isNamedSession(getConversationId(id), name);
}

/** A long id, and one that could be taken for that of a secondary conversation, ends with a digest of the whole. */
function encodeOwn(own: string): string {
  if (own.length <= MAX_OWN && !CHILD.test(own) && !DIGESTED.test(own)) return own;
  return `${own.slice(0, MAX_OWN - DIGEST_DIGITS - 1)}~${computeDigest(own, DIGEST_DIGITS)}`;
}

/**
 * The first part of a session's id with its slash, such as "@alice/", or the whole id. The policies of a PostgreSQL store
 * decide by the same rule.
 */
export function getOwnerPrefix(id: SessionId): string {
  const slash = id.indexOf("/");
  return slash < 0 ? id : id.slice(0, slash + 1);
}
