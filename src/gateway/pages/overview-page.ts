import type { GatewayConfig } from "../config/config.ts";
import type { Environment } from "../config/config-flags.ts";
import { findMissingUpstreams } from "../config/well-known-upstreams.ts";
import type { GatewayStatus } from "../observe/gateway-status.ts";
import { buildAgentLines } from "./agent-lines.ts";
import type { IndexProgress } from "./index-progress.ts";
import type { PageReply } from "./page-reply.ts";
import { isVisible, type PageRequest } from "./page-request.ts";

/** The memory of the process: the level, the main numbers and the newest notices. */
function summarizeMemory({ memory: { sample, relief, notices } }: GatewayStatus) {
  if (!sample) return { level: "normal", notices };
  const { level, usedBytes, heapUsedBytes, rssBytes, cacheBytes, caches, growthPerHour, disk } = sample;
  const sizes = { level, usedBytes, heapUsedBytes, rssBytes, cacheBytes, growthPerHour };
  return { ...sizes, caches, disk, relief, notices };
}

/** The status of the gateway for programs. */
export async function buildOverviewPage(
  {
    config,
    status,
    env,
    version,
    index,
  }: {
    readonly index: IndexProgress;
    readonly config: GatewayConfig;
    readonly status: GatewayStatus;
    readonly env: Environment;
    readonly version: string;
  },
  reader: Pick<PageRequest, "prefixes">,
): Promise<PageReply> {
  const { policy, dryRun, threshold, control, recall, redact, tokens } = config;
  const known = new Map(status.upstreams.map((one) => [one.name, one]));
  return {
    json: {
      version,
      now: Date.now(),
      url: status.url,
      startedAt: status.startedAt,
      isOpen: status.isOpen,
      inFlight: status.inFlight,
      settings: { policy, dryRun, threshold, control, recall, redact },
      upstreams: config.upstreams.map(({ name, baseUrl, apis, prefix, models, keyEnv }) => ({
        ...known.get(name),
        name,
        baseUrl,
        apis,
        prefix,
        models,
        keyEnv,
        hasKey: keyEnv !== undefined && Boolean(env[keyEnv]),
      })),
      missing: findMissingUpstreams(config, env),
      // The process serves everyone; its numbers tell nothing about a person.
      memory: summarizeMemory(status),
      // Totals over all principals would reveal one reader's activity to another.
      totals: reader.prefixes === undefined ? status.totals : undefined,
      index: reader.prefixes === undefined ? await index.read() : undefined,
      threads: status.threads.filter(({ session }) => isVisible(reader, session)),
      agents: buildAgentLines({ url: status.url, needsToken: tokens.length > 0 }),
    },
  };
}
