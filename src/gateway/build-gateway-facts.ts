import type { GatewayFacts } from "../api/index.ts";
import type { GatewayConfig } from "./config/config.ts";
import type { Environment } from "./config/config-flags.ts";
import { findMissingUpstreams } from "./config/well-known-upstreams.ts";
import type { GatewayStatus } from "./observe/gateway-status.ts";
import { buildAgentLines } from "./pages/agent-lines.ts";

const UNUSED = { requests: 0, failures: 0 };

/** Facts about the gateway for the API. No key is among them, only the names of their variables. */
export function buildGatewayFacts(
  config: GatewayConfig,
  { url, totals, threads, upstreams: used }: GatewayStatus,
  env: Environment,
): GatewayFacts {
  const { policy, dryRun, threshold, control, recall, redact, tokens } = config;
  const known = new Map(used.map((one) => [one.name, one]));
  const upstreams = config.upstreams.map(({ name, baseUrl, apis, prefix, models, keyEnv }) => ({
    ...(known.get(name) ?? UNUSED),
    ...{ name, baseUrl, apis },
    ...(prefix !== undefined && { prefix }),
    ...(models !== undefined && { models }),
    ...(keyEnv !== undefined && { keyEnv }),
    hasKey: keyEnv !== undefined && Boolean(env[keyEnv]),
  }));
  return {
    url,
    settings: { policy, dryRun, threshold, control, recall, redact },
    upstreams,
    missing: findMissingUpstreams(config, env),
    spending: totals.spending,
    threads,
    agents: buildAgentLines({ url, needsToken: tokens.length > 0 }),
  };
}
