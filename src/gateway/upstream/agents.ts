import { type AgentOptions, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent, type AgentOptions as TlsOptions } from "node:https";

/** The connections of a gateway to its upstreams. */
export interface Agents {
  /** Keep connections for the next request. */
  readonly kept: AgentPair;
  /** Open a connection for one request only. */
  readonly fresh: AgentPair;
}

/** One agent for each protocol. */
export interface AgentPair {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/** Bounds of connections. */
export interface AgentsOptions {
  /** Most connections to one host; further requests wait for one. */
  readonly maxSockets?: number;
  /** Most idle connections kept for one host. */
  readonly maxFreeSockets?: number;
  /** How long an idle connection is kept. */
  readonly keepAliveMs?: number;
  /** Certificates that are trusted instead of the usual ones. */
  readonly certificates?: string;
}

/** Opens the connections of one gateway; `closeAgents` ends them. */
export function openAgents({
  maxSockets = 1_024,
  maxFreeSockets = 64,
  keepAliveMs = 60_000,
  certificates,
}: AgentsOptions = {}): Agents {
  // The usual quarter of a second for each address of a host is too short for slow networks.
  const plain: AgentOptions = { maxSockets, autoSelectFamilyAttemptTimeout: 2_000 };
  const secure: TlsOptions = {
    ...plain,
    rejectUnauthorized: true,
    ...(certificates === undefined ? {} : { ca: certificates }),
  };
  const kept: AgentOptions = { keepAlive: true, maxFreeSockets, timeout: keepAliveMs };
  return {
    kept: { http: new HttpAgent({ ...plain, ...kept }), https: new HttpsAgent({ ...secure, ...kept }) },
    fresh: { http: new HttpAgent(plain), https: new HttpsAgent(secure) },
  };
}

/** Ends all connections at once, those in use too. */
export function closeAgents({ kept, fresh }: Agents): void {
  for (const { http, https } of [kept, fresh]) {
    http.destroy();
    https.destroy();
  }
}
