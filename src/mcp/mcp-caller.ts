import type { SessionId } from "../index.ts";

/** The person and the place that requests come from. */
export interface McpCaller {
  /** Ids of the caller's sessions begin with one of these; default: the local user, who owns the whole store. */
  readonly prefixes?: readonly string[];
  /** Owner of the memories; default: the agent of the local user. */
  readonly agent?: string;
  /** Folders that the caller works in; default: unknown, and all projects are searched. */
  readonly projects?: readonly string[];
  /** The conversation that asks: its id, or the id that its client gave it; default: unknown. */
  readonly session?: SessionId;
}
