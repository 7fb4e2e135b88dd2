/** The two ways to connect an agent: its requests go through the gateway, or it starts the MCP server. */
export const CONNECTION_WAYS = ["gateway", "mcp"] as const;

export type ConnectionWay = (typeof CONNECTION_WAYS)[number];

/**
 * One way of one agent. "other" is a connection to another address or by other settings; "manual" and "unsupported"
 * are ways without a file that can be edited, and "refused" is a file that cannot be edited safely.
 */
export interface AgentLink {
  readonly state: "connected" | "other" | "absent" | "manual" | "unsupported" | "refused";
  /** The agent's configuration file. */
  readonly path?: string;
  /** Steps for the person, or the reason of a refusal. */
  readonly note?: string;
}

/** An agent that longhaul knows. */
export interface AgentConnection {
  readonly name: string;
  readonly title: string;
  /** True if traces of the agent were found on this computer. */
  readonly isFound: boolean;
  readonly gateway: AgentLink;
  readonly mcp: AgentLink;
}

/** One line of a diff: kept, added, removed, or the number of the line after a gap. */
interface ConfigDiffLine {
  readonly mark: " " | "+" | "-" | "@";
  readonly text: string;
}

/** The change of one configuration file. */
export interface ConfigFileChange {
  readonly path: string;
  /** True if the file does not exist yet. */
  readonly isNew: boolean;
  /** True if the change removes the file, because longhaul made it. */
  readonly isRemoved: boolean;
  /** With secrets masked. */
  readonly diff: readonly ConfigDiffLine[];
}

/** A planned connection or disconnection. */
export interface AgentChange {
  readonly name: string;
  readonly title: string;
  /** Empty if nothing is to be changed. */
  readonly files: readonly ConfigFileChange[];
  readonly notes: readonly string[];
  /** Why nothing can be changed; undefined if it can. */
  readonly obstacle?: string;
  /** Identifies the content of all files before and after the change. */
  readonly digest: string;
}

/** The configuration files of the agents on the gateway's computer. */
export interface AgentConnections {
  /** The address that agents are pointed at. */
  readonly url: string;
  list(): readonly AgentConnection[];
  /** Plans a change; undefined if there is no agent with the name. Writes nothing. */
  plan(agent: string, way: ConnectionWay, change: "connect" | "disconnect"): AgentChange | undefined;
  /** Plans the change again and writes it if its digest is the expected one; false if it is not. */
  apply(agent: string, way: ConnectionWay, change: "connect" | "disconnect", expectedDigest: string): boolean;
}
