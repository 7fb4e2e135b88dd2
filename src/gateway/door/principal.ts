import { computeDigest } from "../../base/digest.ts";
import { buildPersonId, LOCAL_PERSON } from "../../model/session-owner.ts";
import type { Person, PersonRole } from "../../team-entry.ts";
import type { PersonIds } from "../identity/person-ids.ts";
import type { CredentialHeader, TokenMatch } from "./match-token.ts";

/** The person a request belongs to. Principals never share sessions. */
export interface Principal extends PersonIds {
  /** Name of the gateway's token in the configuration. */
  readonly token?: string;
  /** The header that carried the gateway's token; it must not be sent upstream. */
  readonly tokenHeader?: CredentialHeader;
  /** The rights of the person; the person of a gateway without tokens has all. */
  readonly role: PersonRole;
  /** The person of the store; undefined for a token of the configuration. */
  readonly person?: Person | undefined;
}

/** Separates these digests from other SHA-256 digests of the same secret, such as the one in the configuration. */
const DOMAIN = "longhaul gateway principal\0";
const FORMER_DIGITS = 16;

/**
 * Identifies the principal: the name of the gateway's token if one matched, else "local". Secrets have no part in the
 * id, so that a renewed login and a rotated token keep their sessions. Earlier versions used a digest of the secret,
 * which is the former id of a token's person.
 */
export function identifyPrincipal(match: TokenMatch | undefined, person?: Person): Principal {
  if (!match) return { id: LOCAL_PERSON, formerIds: [], role: "admin" };
  const { name, credential, role = "member" } = match;
  return {
    id: buildPersonId(name),
    formerIds: [digestSecret(credential.secret)],
    token: name,
    tokenHeader: credential.header,
    role,
    ...(person && { person }),
  };
}

function digestSecret(secret: string): string {
  return computeDigest(DOMAIN + secret, FORMER_DIGITS);
}
