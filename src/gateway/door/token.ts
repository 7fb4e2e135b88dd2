import { hash, timingSafeEqual } from "node:crypto";
import type { TokenConfig } from "./door-config.ts";
import { badRequest, type Refusal } from "./refusal.ts";
import type { RequestFacts } from "./request-facts.ts";

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
}

interface TokenDigest {
  readonly name: string;
  readonly digest: Buffer;
}

const HEADERS: readonly CredentialHeader[] = ["x-longhaul-token", "authorization", "x-api-key"];
const MOST_CHARACTERS = 8_192;

/** The credentials of a request. A header sent twice is refused, because the next reader may use the other value. */
export function credentialsOf(request: RequestFacts): readonly Credential[] | Refusal {
  const found: Credential[] = [];
  for (const header of HEADERS) {
    const values = request.headers.get(header) ?? [];
    if (values.length > 1) return badRequest(`${header} was sent more than once.`);
    const secret = secretOf(header, values[0] ?? "");
    if (secret.length > MOST_CHARACTERS)
      return badRequest(`${header} is longer than ${MOST_CHARACTERS} characters.`);
    if (secret) found.push({ header, secret });
  }
  return found;
}

/**
 * Keeps a scheme other than Bearer as a prefix: such a credential identifies a principal, but never matches a token.
 */
function secretOf(header: CredentialHeader, value: string): string {
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
  tokens: readonly TokenConfig[],
  environment: NodeJS.ProcessEnv,
): TokenMatch | undefined {
  const digests = digestsOf(tokens, environment);
  if (digests.length === 0) return undefined;
  const own = credentials.filter(({ header }) => header === "x-longhaul-token");
  let match: TokenMatch | undefined;
  for (const credential of own.length > 0 ? own : credentials) {
    const given = sha256(credential.secret);
    for (const { name, digest } of digests)
      if (timingSafeEqual(digest, given)) match ??= { name, credential };
  }
  return match;
}

/** Digests by token list; reloading the configuration creates a new list. */
const known = new WeakMap<readonly TokenConfig[], readonly TokenDigest[]>();

/** A token without a secret or with an invalid digest matches nothing. */
function digestsOf(tokens: readonly TokenConfig[], environment: NodeJS.ProcessEnv): readonly TokenDigest[] {
  const cached = known.get(tokens);
  if (cached) return cached;
  const digests = tokens.flatMap(({ name, env, sha256: hex }) => {
    const secret = env === undefined ? "" : (environment[env] ?? "");
    if (secret) return [{ name, digest: sha256(secret) }];
    return hex && /^[0-9a-f]{64}$/i.test(hex) ? [{ name, digest: Buffer.from(hex, "hex") }] : [];
  });
  known.set(tokens, digests);
  return digests;
}

function sha256(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
