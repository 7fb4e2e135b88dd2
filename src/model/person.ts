/** The rights of people: members use their own conversations and memories, admins manage everything. */
export const PERSON_ROLES = ["member", "admin"] as const;

export type PersonRole = (typeof PERSON_ROLES)[number];

/** A person who may use a gateway. */
export interface Person {
  /** Begins the ids of the person's sessions; never changes. */
  readonly name: string;
  readonly role: PersonRole;
  readonly createdAt: number;
  /** Models that the person may use: names, or prefixes that end in "*"; undefined allows all. */
  readonly models?: readonly string[];
  /** Names of upstreams that the person may use; undefined allows all. */
  readonly upstreams?: readonly string[];
  /** When an admin ended the person's access; undefined unless the person must not sign in until an admin allows it. */
  readonly blockedAt?: number;
}

/** A token of a person. The secret itself is stored nowhere. */
export interface PersonToken {
  /** SHA-256 of the secret in hexadecimal digits. */
  readonly digest: string;
  readonly person: string;
  readonly createdAt: number;
  /** Undefined if it never expires. */
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  /** The latest end of tokens that its owner makes with it; undefined if `expiresAt` is. */
  readonly limitAt?: number;
  /** The sign-in at a provider that it comes from; undefined if it comes from an admin. */
  readonly signIn?: ProviderSignIn;
}

/** A sign-in as its provider names it when it ends there; digests, because the names are the provider's. */
export interface ProviderSignIn {
  readonly subject: string;
  readonly session?: string;
}
