import type { PersonRole, PersonToken } from "../../../kernel/faces/people.ts";
import { isOwnSession } from "../../../model/session-key.ts";
import { ApiError } from "./api-error.ts";

/** The person whose request is answered. */
export interface ApiCaller {
  /** "local", or "@" and the name of a token. */
  readonly id: string;
  /** The name of the person; undefined without a token. */
  readonly name: string | undefined;
  readonly role: PersonRole;
  /** The person's token that the request carries; undefined for a token of the configuration. */
  readonly personToken?: PersonToken;
  /** The person sees only sessions whose ids begin with one of these, the current prefix first; undefined: all. */
  readonly prefixes: readonly string[] | undefined;
  /** Begins the ids of sessions that the person makes; empty without a token. */
  readonly homePrefix: string;
  /** The agent whose memories belong to the person. */
  readonly memoryAgent: string;
  /** True if the request comes from the gateway's own computer, and not through a proxy. */
  readonly isOnLoopback: boolean;
}

/** True for an admin, and for the person who runs the gateway without tokens: they may see and change everything. */
export function isAdminCaller({ role }: ApiCaller): boolean {
  return role === "admin";
}

/** True if a person may see a session. */
export function isVisibleTo({ prefixes }: ApiCaller, session: string): boolean {
  return isOwnSession(prefixes, session);
}

/** Throws FORBIDDEN unless the caller is an admin. */
export function requireAdmin(caller: ApiCaller): void {
  if (!isAdminCaller(caller)) throw new ApiError("FORBIDDEN", "Only an admin may do this.");
}
