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

/**
 * The first part of a session's id with its slash, such as "@alice/", or the whole id. The policies of a PostgreSQL store
 * decide by the same rule.
 */
export function getOwnerPrefix(id: SessionId): string {
  const slash = id.indexOf("/");
  return slash < 0 ? id : id.slice(0, slash + 1);
}
