import { LOCAL_PERSON } from "../../model/session-owner.ts";

/** The ids under which sessions of one person are stored. */
export interface PersonIds {
  /** "local", or "@" and the name of a token. New sessions get this one. */
  readonly id: string;
  /** Ids that earlier versions used: 16 hexadecimal digits derived from a credential. */
  readonly formerIds: readonly string[];
}

/** All ids of a person, the current one first. */
export function listPersonIds({ id, formerIds }: PersonIds): readonly string[] {
  return [id, ...formerIds];
}

/** The prefix of all session ids of a principal. */
export function getSessionPrefix(principal: string): string {
  return `${principal}/`;
}

/** The prefixes of all session ids of a person. */
export function listSessionPrefixes(person: PersonIds): readonly string[] {
  return listPersonIds(person).map(getSessionPrefix);
}

/** True if a session belongs to a person. */
export function isOwnSession(person: PersonIds, session: string): boolean {
  return listSessionPrefixes(person).some((prefix) => session.startsWith(prefix));
}

/** The name under which a person's memories are stored; `longhaul remember` writes those of the local user. */
export function getMemoryAgent({ id }: Pick<PersonIds, "id">): string {
  return id === LOCAL_PERSON ? "default" : `gateway:${id}`;
}

/** The former id that a session was stored under; undefined if its id has another form. */
export function findFormerId(session: string): string | undefined {
  return /^([0-9a-f]{16})\/[^/]+:/.exec(session)?.[1];
}

/** The owners of all sessions of a person, and of the person's memories. */
export function listPersonOwners(person: PersonIds): readonly string[] {
  return [...listSessionPrefixes(person), `memory:${getMemoryAgent(person)}`];
}
