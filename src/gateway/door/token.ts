import { hash, timingSafeEqual } from "node:crypto";
import type { TokenConfig } from "./door-config.ts";
import { badRequest, type Refusal } from "./refusal.ts";
import type { RequestFacts } from "./request-facts.ts";

/** Headers that may carry a credential. */
export type CredentialHeader = "x-longhaul-token" | "authorization" | "x-api-key";

/** A credential as a client sent it. It never leaves the door: only digests of it do. */
export interface Credential {
  readonly header: CredentialHeader;
  readonly secret: string;
}

/** The token that a request carries, by its name in the configuration, and where: that header is not sent upstream. */
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

/** The credentials of a request. One that was sent twice is refused: whoever reads it next may take the other. */
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

/** Another scheme than Bearer stays in front: such a credential tells who asks, but is never a token. */
function secretOf(header: CredentialHeader, value: string): string {
  if (header !== "authorization" || value === "") return value;
  return /^Bearer +(.*)$/i.exec(value)?.[1] ?? `other ${value}`;
}

/**
 * Finds the token that a request carries. A client with a credential of its own for the provider sends the gateway's token as
 * x-longhaul-token, which then is the only one looked at. Every token is compared, whatever was found before.
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

/** Digests by list of tokens: a configuration that was loaded again has a new one. */
const known = new WeakMap<readonly TokenConfig[], readonly TokenDigest[]>();

/** A token without a secret, or with a digest that is none, matches nothing. */
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
