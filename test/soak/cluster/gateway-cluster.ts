import { startPostgres } from "../../support/postgres/postgres-server.ts";
import { behave, startUpstream } from "../../support/upstream.ts";
import type { Actor, Load } from "./actor.ts";
import { type ClusterReport, runCluster } from "./cluster.ts";
import { createConversationLoad } from "./conversation-load.ts";
import { createGatewayActor } from "./gateway-actor.ts";

/** Settings of a run. */
interface GatewayClusterOptions {
  readonly runMs: number;
  readonly minKills?: number;
  readonly seed: number;
  readonly conversations: number;
  readonly log?: (line: string) => void;
  /** Other processes and their work, on the same database. */
  readonly extend?: (store: string) => Promise<{
    readonly actors: readonly Actor[];
    readonly loads: readonly Load[];
  }>;
}

/** Runs two gateways on a database of their own while they and the database die. */
export async function runGatewayCluster(options: GatewayClusterOptions): Promise<ClusterReport> {
  const server = await startPostgres();
  try {
    const store = `${server.url}?schema=cluster`;
    let replies = 0;
    const upstream = await startUpstream((heard, response) => {
      const owner = [...heard.body.toString("utf8").matchAll(/client-\d+-\d+/g)].at(-1)?.[0];
      const text = `Reply ${replies++} to ${owner}.`;
      const usage = { input: Math.ceil(heard.body.length / 4), cacheRead: 0, cacheWrite: 0, output: 20 };
      behave(heard, response, { type: "reply", reply: { text, usage } });
    });
    const gateways = await Promise.all(
      ["gateway 1", "gateway 2"].map((name) => createGatewayActor(name, { store, upstream: upstream.url })),
    );
    const load = createConversationLoad({
      gateways,
      store,
      count: options.conversations,
      seed: options.seed,
    });
    const more = await options.extend?.(store);
    return await runCluster({
      server,
      actors: [...gateways, ...(more?.actors ?? [])],
      loads: [load, ...(more?.loads ?? [])],
      runMs: options.runMs,
      ...(options.minKills !== undefined && { minKills: options.minKills }),
      seed: options.seed,
      ...(options.log && { log: options.log }),
    });
  } finally {
    await server.stop();
  }
}
