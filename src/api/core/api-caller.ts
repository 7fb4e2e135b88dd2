/** The person whose request is answered. */
export interface ApiCaller {
  /** "local", or "@" and the name of a token. */
  readonly id: string;
  /** The person sees only sessions whose ids begin with one of these, the current prefix first; undefined: all. */
  readonly prefixes: readonly string[] | undefined;
  /** The agent whose memories belong to the person. */
  readonly memoryAgent: string;
  /** True if the request comes from the gateway's own computer, and not through a proxy. */
  readonly isOnLoopback: boolean;
}

/** True for the person who runs the gateway without tokens, who owns everything in the store. */
export function isLocalCaller({ prefixes }: ApiCaller): boolean {
  return prefixes === undefined;
}

/** True if a person may see a session. */
export function isVisibleTo({ prefixes }: ApiCaller, session: string): boolean {
  return prefixes === undefined || prefixes.some((prefix) => session.startsWith(prefix));
}
