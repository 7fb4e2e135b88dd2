import type { Kernel } from "../../kernel/index.ts";
import { buildPersonId, isOwnSession, LOCAL_PERSON } from "../../model/session-key.ts";
import { listOwnSessions, listSessionPrefixes, readFormerIds } from "../../server/gateway/identity/index.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { getStorePath } from "../open-store.ts";
import { UsageError } from "../usage-error.ts";

/** The option of commands that read on behalf of a person. */
export const PERSON_OPTION = {
  as: {
    type: "string",
    value: "PERSON",
    help: "only conversations of this person: the name of a token of the gateway, or local",
  },
} as const;

/** The sessions that a command may name, and the folder with the last listing. */
export interface SessionScope {
  readonly store: string;
  /** All ids begin with one of these; undefined for the whole store. */
  readonly prefixes?: readonly string[];
  /** The id of the person that --as names. */
  readonly person?: string;
}

/** The id of a person, as session ids begin with it. */
const PERSON_ID = /^@[^/\s]+$/;

/** Returns the scope of a command that may name every session of the store. */
export function getSessionScope(context: CliContext, options: CommonValues): SessionScope {
  return { store: getStorePath(context, options) };
}

/** Finds the scope of a command: the whole store, or the sessions of the person that --as names. */
export async function findSessionScope(
  kernel: Kernel,
  context: CliContext,
  options: CommonValues & { readonly as?: string },
): Promise<SessionScope> {
  const scope = getSessionScope(context, options);
  return options.as === undefined ? scope : { ...scope, ...(await findPerson(kernel, options.as)) };
}

/**
 * The id of a person and the prefixes of the person's sessions, those of earlier versions included. The text is the name
 * of a token; if that person has no sessions, an id as listings show it, such as `@alice`, is accepted too. Two people
 * are never joined.
 */
async function findPerson(
  kernel: Kernel,
  name: string,
): Promise<Required<Pick<SessionScope, "person" | "prefixes">>> {
  if (name.replace(/^@/, "") === "")
    throw new UsageError('--as is empty; expected the name of a person, as "longhaul sessions" shows it');
  const ids = name === LOCAL_PERSON ? [LOCAL_PERSON] : [buildPersonId(name)];
  if (PERSON_ID.test(name)) ids.push(name);
  let found = { person: "", prefixes: [] as readonly string[] };
  for (const id of ids) {
    found = { person: id, prefixes: listSessionPrefixes({ id, formerIds: await readFormerIds(kernel, id) }) };
    if ((await listOwnSessions(kernel, found.prefixes, { limit: 1 })).length > 0) break;
  }
  return found;
}

/** True if a command may name a session. */
export function isInScope({ prefixes }: SessionScope, session: string): boolean {
  return isOwnSession(prefixes, session);
}
