import { hash, timingSafeEqual } from "node:crypto";
import type { PersonRole } from "../../team-entry.ts";
import type { DoorToken } from "./door-config.ts";
import { type DoorRefusal, refuseRequest } from "./door-refusal.ts";
import type { RequestHead } from "./request-head.ts";

export type CredentialHeader = "x-longhaul-token" | "authorization" | "x-api-key";

/** A credential as a client sent it. Only digests of it leave the door. */
export interface Credential {
  readonly header: CredentialHeader;
  readonly secret: string;
}

/** The matching token of the configuration, and the credential that carried it; its header is not sent upstream. */
export interface TokenMatch {
  readonly name: string;
  readonly credential: Credential;
  readonly role?: PersonRole | undefined;
}

interface TokenDigest {
  readonly name: string;
  readonly role: PersonRole | undefined;
  readonly digest: Buffer;
}

const HEADERS: readonly CredentialHeader[] = ["x-longhaul-token", "authorization", "x-api-key"];
const MAX_CHARACTERS = 8_192;

/** The credentials of a request. A header sent twice is refused, because the next reader may use the other value. */
export function readCredentials(request: RequestHead): readonly Credential[] | DoorRefusal {
  const found: Credential[] = [];
  for (const header of HEADERS) {
    const values = request.headers.get(header) ?? [];
    if (values.length > 1) return refuseRequest(`${header} was sent more than once.`);
    const secret = parseSecret(header, values[0] ?? "");
    if (secret.length > MAX_CHARACTERS)
      return refuseRequest(`${header} is longer than ${MAX_CHARACTERS} characters.`);
    if (secret) found.push({ header, secret });
  }
  return found;
}

/**
 * Keeps a scheme other than Bearer as a prefix: such a credential never matches a token.
 */
function parseSecret(header: CredentialHeader, value: string): string {
  if (header !== "authorization" || value === "") return value;
  return /^Bearer +(.*)$/i.exec(value)?.[1] ?? `other ${value}`;
}

/**
 * Finds the token that a request carries. A client that also sends a credential for the provider sends the gateway's
 * token as x-longhaul-token, and then only that header counts. All tokens are compared even after a match, so that
 * timing reveals nothing.
 */
export function matchToken(
  credentials: readonly Credential[],
  tokens: readonly DoorToken[],
  environment: NodeJS.ProcessEnv,
): TokenMatch | undefined {
  const digests = digestTokens(tokens, environment);
  if (digests.length === 0) return undefined;
  let match: TokenMatch | undefined;
  for (const credential of selectCredentials(credentials)) {
    const given = sha256(credential.secret);
    for (const { name, digest, role } of digests)
      if (timingSafeEqual(digest, given)) match ??= { name, credential, role };
  }
  return match;
}

/** The credentials that may hold the gateway's token: its own header if it was sent. */
export function selectCredentials(credentials: readonly Credential[]): readonly Credential[] {
  const own = credentials.filter(({ header }) => header === "x-longhaul-token");
  return own.length > 0 ? own : credentials;
}

/** Digests by token list; reloading the configuration creates a new list. */
const knownDigests = new WeakMap<readonly DoorToken[], readonly TokenDigest[]>();

/** A token without a secret or with an invalid digest matches nothing. */
function digestTokens(tokens: readonly DoorToken[], environment: NodeJS.ProcessEnv): readonly TokenDigest[] {
  const cached = knownDigests.get(tokens);
  if (cached) return cached;
  const digests = tokens.flatMap(({ name, env, sha256: hex, role }) => {
    const secret = env === undefined ? "" : (environment[env] ?? "");
    if (secret) return [{ name, role, digest: sha256(secret) }];
    return hex && /^[0-9a-f]{64}$/i.test(hex) ? [{ name, role, digest: Buffer.from(hex, "hex") }] : [];
  });
  knownDigests.set(tokens, digests);
  return digests;
}

function sha256(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
