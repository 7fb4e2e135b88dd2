import type { AuditAct } from "../../model/audit.ts";
import type { Person, PersonToken, ProviderSignIn } from "../../model/person.ts";

/** Counts of an erased person. */
export interface RemovedPerson {
  readonly people: number;
  readonly tokens: number;
  readonly budgets: number;
}

/** People and their tokens. A change and its entry in the audit log are one transaction. */
export interface PeopleStore {
  /** All people by name. */
  list(): Promise<readonly Person[]>;
  get(name: string): Promise<Person | undefined>;
  /** Adds or replaces a person. */
  put(person: Person, act: AuditAct): Promise<void>;
  /** The tokens of a person, oldest first, ended ones included. */
  tokens(person: string): Promise<readonly PersonToken[]>;
  /** The token with a digest, ended or not, and its person. */
  findToken(digest: string): Promise<{ readonly token: PersonToken; readonly person: Person } | undefined>;
  /**
   * Adds a token, and its person if that is new; the person's other tokens end at `othersEndAt` at the latest. Changes
   * nothing and returns false if the person is blocked, unless `allows` ends that.
   */
  addToken(
    token: PersonToken,
    change: { readonly person?: Person; readonly othersEndAt?: number; readonly allows: boolean },
    act: AuditAct,
  ): Promise<boolean>;
  /** Ends the valid tokens that come from a sign-in, or only `digest`; returns their number. */
  endSignIns(
    wanted: ProviderSignIn | { readonly digest: string },
    at: number,
    act: AuditAct,
  ): Promise<number>;
  /** Ends all tokens of a person, who is blocked then, and returns the number of those that were still valid. */
  revoke(person: string, at: number, act: AuditAct): Promise<number>;
  /** Removes a person with tokens, budgets and counts. */
  remove(person: string, act: AuditAct): Promise<RemovedPerson>;
  /** True if there is a person or a budget. */
  isInUse(): Promise<boolean>;
}
