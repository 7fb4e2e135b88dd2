import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Configuration } from "openid-client";
import type { Team } from "../../../kernel/faces/people.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import { computeDigest } from "../../../model/base/digest.ts";
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

/** A sign-in that waits for the person to return from the provider. */
interface PendingSignIn {
  readonly startedAt: number;
  readonly verifier: string;
  readonly nonce: string;
  /** Digest of a secret that only the tab that began the sign-in has, so that no other tab can finish it. */
  readonly tab: string;
}

const MAX_PENDING = 1_000;
const MAX_WAIT_MS = 600_000;
const PROVIDER_SECONDS = 15;

/** The page of the dashboard to which the provider sends the browser back; never taken from a request. */
const SIGN_IN_PATH = "/sign-in";

/**
 * Sign-in by OpenID Connect: the authorization code flow with PKCE, state and nonce. The person gets a token that ends
 * by itself, which the dashboard keeps in its tab as any other token: no cookie exists that another page could use.
 */
export class OidcSignIn {
  readonly #settings: () => OidcSettings | undefined;
  readonly #team: Pick<Team, "signIn" | "find">;
  readonly #pending = new BoundedMap<string, PendingSignIn>({ max: MAX_PENDING });
  #known: { readonly key: string; readonly config: Promise<Configuration> } | undefined;

  constructor(team: Pick<Team, "signIn" | "find">, settings: () => OidcSettings | undefined) {
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
    const tab = randomBytes(32).toString("base64url");
    const verifier = oidc.randomPKCECodeVerifier();
    const nonce = oidc.randomNonce();
    this.#pending.set(state, { startedAt: Date.now(), verifier, nonce, tab: computeDigest(tab) });
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
    const state = returned.get("state") ?? "";
    const pending = this.#pending.get(state);
    const isOwn = pending !== undefined && isSame(pending.tab, computeDigest(tab));
    // A state is used once, even if the provider then refuses.
    if (isOwn) this.#pending.delete(state);
    if (!isOwn || Date.now() - pending.startedAt > MAX_WAIT_MS)
      throw new ApiError("SIGN_IN_FAILED", "This sign-in was not begun here, or took too long.");
    const oidc = await import("openid-client");
    const config = await this.#discover(settings);
    const address = new URL(`${settings.publicUrl}${SIGN_IN_PATH}?${returned}`);
    const granted = await oidc
      .authorizationCodeGrant(config, address, {
        pkceCodeVerifier: pending.verifier,
        expectedState: state,
        expectedNonce: pending.nonce,
        idTokenExpected: true,
      })
      .catch((error: unknown) => {
        throw new ApiError("SIGN_IN_FAILED", `The provider refused the sign-in: ${describe(error)}.`);
      });
    const claims = granted.claims() ?? {};
    const name = readName(claims as Readonly<Record<string, unknown>>, settings.claim);
    if (settings.reserved.includes(name))
      throw new ApiError("SIGN_IN_FAILED", `${name} is the name of a token in the gateway's configuration.`);
    const known = await this.#team.find(name);
    if (!known && !mayJoin(name, settings.join))
      throw new ApiError("SIGN_IN_FAILED", `${name} is not among the people of this gateway.`);
    const expiresAt = Date.now() + settings.sessionMs;
    const { secret } = await this.#team.signIn(name, { expiresAt });
    return { name, token: secret, expiresAt };
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
      const isPlain = new URL(issuer).protocol === "http:";
      const config = oidc.discovery(
        new URL(issuer),
        clientId,
        clientSecret,
        clientSecret === undefined ? oidc.None() : undefined,
        { timeout: PROVIDER_SECONDS, ...(isPlain && { execute: [oidc.allowInsecureRequests] }) },
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

/** An e-mail address counts only if the provider has verified it: otherwise anybody could claim it. */
function readName(claims: Readonly<Record<string, unknown>>, claim: string): string {
  const value = claims[claim];
  if (typeof value !== "string" || value === "")
    throw new ApiError("SIGN_IN_FAILED", `The provider names no ${claim} for this person.`);
  if (claim === "email" && claims.email_verified !== true)
    throw new ApiError("SIGN_IN_FAILED", "The provider has not verified this person's e-mail address.");
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
