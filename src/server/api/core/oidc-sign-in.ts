import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Configuration } from "openid-client";
import type { ProviderSignIn, Team } from "../../../kernel/faces/people.ts";
import { isLonghaulError } from "../../../kernel/index.ts";
import { computeDigest } from "../../../model/base/digest.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { sealText, unsealText } from "../../../model/secrets/seal-text.ts";
import { parseObject } from "../../../wire/fields.ts";
import { ApiError } from "./api-error.ts";

/** A provider of identities, as the configuration describes it. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined;
  readonly title: string;
  /** The claim that names the person. */
  readonly claim: string;
  readonly scopes: readonly string[];
  /** Values of the claim, or "*@" and a domain, that may become people by themselves; all others must be added first. */
  readonly join: readonly string[];
  /** Names of tokens in the configuration, whose conversations nobody else may get by joining. */
  readonly reserved: readonly string[];
  readonly sessionMs: number;
  /** The gateway's address in browsers, without a path. */
  readonly publicUrl: string;
}

/**
 * A sign-in that waits for the person to return from the provider. The tab that began it keeps it, sealed: no stranger
 * can push it out of a table, and every gateway with the same settings can finish it.
 */
interface PendingSignIn {
  readonly startedAt: number;
  readonly state: string;
  readonly verifier: string;
  readonly nonce: string;
}

const MAX_WAIT_MS = 600_000;
const PROVIDER_SECONDS = 15;
/** Replies of a provider: its description, its keys and a few tokens. */
const MAX_REPLY_BYTES = 1_024 * 1_024;
/** The clocks of provider and gateway may differ by this much. */
const MAX_SKEW_SECONDS = 300;
/** Tokens that a person makes for agents end this long after the sign-in at the latest. */
const AGENT_TOKEN_MS = 90 * 86_400_000;
const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** The page of the dashboard to which the provider sends the browser back; never taken from a request. */
const SIGN_IN_PATH = "/sign-in";

type SignInTeam = Pick<Team, "signIn" | "signOut" | "find">;

/**
 * Sign-in by OpenID Connect: the authorization code flow with PKCE, state and nonce. The person gets a token that ends
 * by itself, which the dashboard keeps in its tab as any other token: no cookie exists that another page could use.
 */
export class OidcSignIn {
  readonly #settings: () => OidcSettings | undefined;
  readonly #team: SignInTeam;
  #known: { readonly key: string; readonly config: Promise<Configuration> } | undefined;

  constructor(team: SignInTeam, settings: () => OidcSettings | undefined) {
    this.#team = team;
    this.#settings = settings;
  }

  /** The provider's name for people; undefined if there is none. */
  get title(): string | undefined {
    return this.#settings()?.title;
  }

  /** Begins a sign-in: the address to open, and the secret that the tab keeps to finish it. */
  async begin(): Promise<{ readonly url: string; readonly tab: string }> {
    const settings = this.#require();
    const oidc = await import("openid-client");
    const config = await this.#discover(settings);
    const state = oidc.randomState();
    const verifier = oidc.randomPKCECodeVerifier();
    const nonce = oidc.randomNonce();
    const pending: PendingSignIn = { startedAt: Date.now(), state, verifier, nonce };
    const tab = sealText(
      JSON.stringify({ ...pending, pad: randomBytes(8).toString("hex") }),
      buildKey(settings),
    );
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: settings.publicUrl + SIGN_IN_PATH,
      scope: settings.scopes.join(" "),
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    return { url: url.href, tab };
  }

  /** Finishes a sign-in with the query that the provider sent; returns the person's token. */
  async finish(
    query: string,
    tab: string,
  ): Promise<{ readonly name: string; readonly token: string; readonly expiresAt: number }> {
    const settings = this.#require();
    const returned = new URLSearchParams(query);
    const pending = parseObject(unsealText(tab, buildKey(settings)) ?? "") as
      | Partial<PendingSignIn>
      | undefined;
    const { state = "", startedAt = 0, verifier = "", nonce = "" } = pending ?? {};
    // Another tab has another state. A code is worth one sign-in, because its provider takes it once.
    const isOwn = state !== "" && isSame(state, returned.get("state") ?? "");
    if (!isOwn || Math.abs(Date.now() - startedAt) > MAX_WAIT_MS)
      throw new ApiError("SIGN_IN_FAILED", "This sign-in was not begun here, or took too long.");
    const oidc = await import("openid-client");
    const config = await this.#discover(settings);
    const address = new URL(`${settings.publicUrl}${SIGN_IN_PATH}?${returned}`);
    const granted = await oidc
      .authorizationCodeGrant(config, address, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      })
      .catch((error: unknown) => {
        throw new ApiError("SIGN_IN_FAILED", `The provider refused the sign-in: ${describe(error)}.`);
      });
    const claims = granted.claims() as Readonly<Record<string, unknown>> | undefined;
    if (!claims) throw new ApiError("SIGN_IN_FAILED", "The provider sent no ID token.");
    checkIssueTime(claims.iat);
    const name = readName(claims, settings.claim);
    if (settings.reserved.includes(name))
      throw new ApiError("SIGN_IN_FAILED", `${name} is the name of a token in the gateway's configuration.`);
    const known = await this.#team.find(name);
    if (!known && !mayJoin(name, settings.join))
      throw new ApiError("SIGN_IN_FAILED", `${name} is not among the people of this gateway.`);
    const now = Date.now();
    const made = await this.#team
      .signIn(name, {
        expiresAt: now + settings.sessionMs,
        limitAt: now + Math.max(AGENT_TOKEN_MS, settings.sessionMs),
        signIn: nameSignIn(settings, claims),
      })
      .catch((error: unknown) => {
        if (!isLonghaulError(error, "PERSON_BLOCKED")) throw error;
        throw new ApiError("SIGN_IN_FAILED", error.message);
      });
    return { name, token: made.secret, expiresAt: made.expiresAt };
  }

  /** Ends the tokens of a sign-in that ended at the provider, which says so in a signed token of its own. */
  async endAtProvider(logoutToken: string): Promise<void> {
    const settings = this.#require();
    const config = await this.#discover(settings);
    const { jwks_uri: keys, issuer } = config.serverMetadata();
    if (keys === undefined) throw new ApiError("SIGN_IN_FAILED", "The provider names no keys.");
    const { createRemoteJWKSet, customFetch, jwtVerify } = await import("jose");
    const keySet = createRemoteJWKSet(new URL(keys), { [customFetch]: fetchBounded });
    const { payload } = await jwtVerify(logoutToken, keySet, {
      issuer,
      audience: settings.clientId,
      algorithms: ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"],
      clockTolerance: MAX_SKEW_SECONDS,
      maxTokenAge: 2 * MAX_SKEW_SECONDS,
      requiredClaims: ["jti", "events"],
    }).catch((error: unknown) => {
      throw new ApiError("SIGN_IN_FAILED", `The logout token is not valid: ${describe(error)}.`);
    });
    const isLogout = Object(payload.events)[LOGOUT_EVENT] !== undefined && payload.nonce === undefined;
    if (!isLogout || (payload.sub === undefined && payload.sid === undefined))
      throw new ApiError("SIGN_IN_FAILED", "The logout token names no sign-in.");
    await this.#team.signOut(nameSignIn(settings, payload), { by: "provider" });
  }

  #require(): OidcSettings {
    const settings = this.#settings();
    if (settings) return settings;
    throw new ApiError("SIGN_IN_FAILED", "This gateway has no provider for signing in.");
  }

  /** Reads the provider's own description; a failure is tried again by the next sign-in. */
  async #discover(settings: OidcSettings): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = settings;
    const key = JSON.stringify([
      issuer,
      clientId,
      clientSecret === undefined ? "" : computeDigest(clientSecret),
    ]);
    if (this.#known?.key !== key) {
      const oidc = await import("openid-client");
      const { protocol, hostname } = new URL(issuer);
      const isPlain = protocol === "http:";
      if (isPlain && !isLoopbackName(hostname))
        throw new ApiError(
          "SIGN_IN_FAILED",
          "oidc.issuer has to begin with https: outside of this computer.",
        );
      const config = oidc.discovery(
        new URL(issuer),
        clientId,
        clientSecret,
        clientSecret === undefined ? oidc.None() : undefined,
        {
          timeout: PROVIDER_SECONDS,
          [oidc.customFetch]: fetchBounded,
          // Without it, the connection alone would vouch for the ID token.
          execute: [oidc.enableNonRepudiationChecks, ...(isPlain ? [oidc.allowInsecureRequests] : [])],
        },
      );
      this.#known = { key, config };
      config.catch(() => {
        if (this.#known?.config === config) this.#known = undefined;
      });
    }
    return await this.#known.config.catch((error: unknown) => {
      throw new ApiError("SIGN_IN_FAILED", `The provider ${issuer} does not answer: ${describe(error)}.`);
    });
  }
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

/** Seals pending sign-ins; with a public client the seal only keeps them whole, and PKCE and nonce protect them. */
function buildKey({ issuer, clientId, clientSecret = "" }: OidcSettings): Uint8Array {
  return hash("sha256", JSON.stringify(["longhaul sign-in", issuer, clientId, clientSecret]), "buffer");
}

/** A sign-in by digests of the provider's names for the person and the session. */
function nameSignIn(
  { issuer }: OidcSettings,
  { sub, sid }: { readonly sub?: unknown; readonly sid?: unknown },
): ProviderSignIn {
  const digest = (kind: string, value: unknown) =>
    typeof value === "string" ? computeDigest(JSON.stringify([kind, issuer, value])) : undefined;
  return { subject: digest("sub", sub) ?? "", ...dropUndefined({ session: digest("sid", sid) }) };
}

function checkIssueTime(iat: unknown): void {
  const seconds = Date.now() / 1_000;
  if (typeof iat !== "number" || iat > seconds + MAX_SKEW_SECONDS || iat < seconds - 2 * MAX_SKEW_SECONDS)
    throw new ApiError("SIGN_IN_FAILED", "The ID token was issued at another time; check the clocks.");
}

function isLoopbackName(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Fetches from the provider without following it elsewhere, and reads no reply without an end. */
async function fetchBounded(url: string, init: object): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: "manual" });
  const { status, headers } = response;
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > MAX_REPLY_BYTES) throw new Error("the reply is too long");
    pieces.push(piece);
  }
  const hasBody = status !== 204 && status !== 304;
  return new Response(hasBody ? Buffer.concat(pieces) : null, { status, headers });
}

/**
 * The letters of a name: two scripts in one word, or another form of the same letters, would look like somebody else's
 * name.
 */
function checkLetters(name: string): void {
  const scripts = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u];
  const isMixed = name
    .split(/[^\p{L}\p{M}]+/u)
    .some((word) => scripts.filter((one) => one.test(word)).length > 1);
  if (isMixed || name !== name.normalize("NFKC"))
    throw new ApiError("SIGN_IN_FAILED", "The name mixes scripts or has letters that look like others.");
}

/** An e-mail address counts only if the provider has verified it: otherwise anybody could claim it. */
function readName(claims: Readonly<Record<string, unknown>>, claim: string): string {
  const value = claims[claim];
  if (typeof value !== "string" || value === "")
    throw new ApiError("SIGN_IN_FAILED", `The provider names no ${claim} for this person.`);
  if (claim === "email" && claims.email_verified !== true)
    throw new ApiError("SIGN_IN_FAILED", "The provider has not verified this person's e-mail address.");
  checkLetters(value);
  return claim === "email" ? value.toLowerCase() : value;
}

function mayJoin(name: string, join: readonly string[]): boolean {
  return join.some((one) =>
    one.startsWith("*@")
      ? name.endsWith(one.slice(1).toLowerCase())
      : one.toLowerCase() === name.toLowerCase(),
  );
}

/** The kind of a failure, without the provider's reply, which may hold a code. */
function describe(error: unknown): string {
  const {
    error: kind,
    code,
    name,
  } = error as { readonly error?: string; readonly code?: string; readonly name?: string };
  return kind ?? code ?? name ?? "unknown error";
}
