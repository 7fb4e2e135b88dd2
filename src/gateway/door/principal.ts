import { computeDigest } from "../../base/digest.ts";
import type { Credential, CredentialHeader, TokenMatch } from "./match-token.ts";

/** The person a request belongs to. Principals never share sessions. */
export interface Principal {
  /** "local", or 16 hexadecimal digits derived from a token or credential without revealing it. */
  readonly id: string;
  /** Name of the gateway's token in the configuration. */
  readonly token?: string;
  /** The header that carried the gateway's token; it must not be sent upstream. */
  readonly tokenHeader?: CredentialHeader;
}

/** Separates these digests from other SHA-256 digests of the same secret, such as the one in the configuration. */
const DOMAIN = "longhaul gateway principal\0";
const DIGITS = 16;

/**
 * Identifies the principal: by the gateway's token if one matched, else by the client's credential for the provider,
 * else "local". The digest is not salted: a credential must find its sessions again after every restart and on every
 * machine that shares the store, and keys of 128 bits or more cannot be guessed from a digest. Its 64 bits are enough
 * to tell principals apart, and too few to identify a key that leaked elsewhere with certainty.
 */
export function identifyPrincipal(
  match: TokenMatch | undefined,
  credentials: readonly Credential[],
): Principal {
  if (match)
    return {
      id: digestOf(match.credential.secret),
      token: match.name,
      tokenHeader: match.credential.header,
    };
  const own = credentials.find(({ header }) => header !== "x-longhaul-token");
  return { id: own ? digestOf(own.secret) : "local" };
}

function digestOf(secret: string): string {
  return computeDigest(DOMAIN + secret, DIGITS);
}
