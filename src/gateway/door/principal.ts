import { hash } from "node:crypto";
import type { Credential, CredentialHeader, TokenMatch } from "./token.ts";

/** Who asks. Sessions of two principals never meet. */
export interface Principal {
  /** "local", or 16 hexadecimal digits that stand for a token or a credential and do not give it away. */
  readonly id: string;
  /** The name of the gateway's token in the configuration. */
  readonly token?: string;
  /** The header that carried the gateway's token; it must not be sent upstream. */
  readonly tokenHeader?: CredentialHeader;
}

/** Keeps these digests apart from any other SHA-256 of the same secret, such as the one in the configuration. */
const DOMAIN = "longhaul gateway principal\0";
const DIGITS = 16;

/**
 * Names who asks: by the gateway's token if one was matched, else by the client's own credential for the provider, else
 * "local". The digest is not salted: a credential has to find its sessions again after every restart and on every machine
 * that shares the store, and keys of 128 bits and more cannot be guessed from a digest. 64 bits of it are enough to tell
 * principals apart, and too few to recognise a key that leaked elsewhere with certainty.
 */
export function principalOf(match: TokenMatch | undefined, credentials: readonly Credential[]): Principal {
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
  return hash("sha256", DOMAIN + secret).slice(0, DIGITS);
}
