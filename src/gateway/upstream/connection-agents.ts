import { type AgentOptions, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent, type AgentOptions as TlsOptions } from "node:https";

/** The connections of a gateway to its upstreams. */
export interface ConnectionAgents {
  /** Reuse connections for later requests. */
  readonly kept: AgentPair;
  /** Open a new connection for each request. */
  readonly fresh: AgentPair;
}

/** One agent per protocol. */
export interface AgentPair {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/** Limits on connections. */
export interface AgentsOptions {
  /** Maximum number of connections per host, default 1,024; further requests wait. */
  readonly maxSockets?: number;
  /** Maximum number of idle connections kept per host, default 64. */
  readonly maxFreeSockets?: number;
  /** How long an idle connection is kept, default one minute. */
  readonly keepAliveMs?: number;
  /** Trusted certificates in PEM, replacing the default ones. */
  readonly certificates?: string;
}

/** Creates the agents of one gateway; `closeAgents` closes them. */
export function createAgents({
  maxSockets = 1_024,
  maxFreeSockets = 64,
  keepAliveMs = 60_000,
  certificates,
}: AgentsOptions = {}): ConnectionAgents {
  // Node's default of 250 ms per address of a host is too short for slow networks.
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

/** Closes all connections at once, including those in use. */
export function closeAgents({ kept, fresh }: ConnectionAgents): void {
  for (const { http, https } of [kept, fresh]) {
    http.destroy();
    https.destroy();
  }
}
