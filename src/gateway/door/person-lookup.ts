import { isPersonSecret, type Team, type TokenOwner } from "../../team-entry.ts";
import type { TeamState } from "../budget/team-state.ts";
import { type Credential, readCredentials, selectCredentials } from "./match-token.ts";
import type { RequestHead } from "./request-head.ts";

/** The store's answer about the credentials of a request. */
export interface PersonLookup {
  /** True if the store has people, so that nobody is admitted without a token. */
  readonly isClosed: boolean;
  readonly owner?: TokenOwner;
  /** The credential that holds the secret of a person. */
  readonly credential?: Credential;
  /** True if the store could not be asked. */
  readonly hasFailed?: true;
}

export const NO_PEOPLE: PersonLookup = { isClosed: false };
const ONLY_PEOPLE: PersonLookup = { isClosed: true };

/**
 * Asks the store about the person whose secret a request carries; other credentials are not looked up. Returns no
 * promise where nothing has to be waited for.
 */
export function lookUpPerson(
  head: RequestHead,
  team: Pick<Team, "authenticate">,
  state: TeamState,
): PersonLookup | Promise<PersonLookup> {
  const inUse = state.isInUse();
  const credentials = readCredentials(head);
  const credential =
    "fault" in credentials
      ? undefined
      : selectCredentials(credentials).find(({ secret }) => isPersonSecret(secret));
  if (credential) return authenticate(credential, team, state, inUse);
  if (typeof inUse === "boolean") return inUse ? ONLY_PEOPLE : NO_PEOPLE;
  return inUse.then((isClosed) => ({ isClosed }));
}

async function authenticate(
  credential: Credential,
  team: Pick<Team, "authenticate">,
  state: TeamState,
  inUse: boolean | Promise<boolean>,
): Promise<PersonLookup> {
  const isClosed = await inUse;
  try {
    const owner = await team.authenticate(credential.secret);
    if (owner) state.markInUse();
    return { isClosed: isClosed || owner !== undefined, credential, ...(owner && { owner }) };
  } catch {
    return { isClosed, credential, hasFailed: true };
  }
}
