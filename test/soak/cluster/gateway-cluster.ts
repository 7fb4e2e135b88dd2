import { setTimeout as sleep } from "node:timers/promises";
import { openKernel } from "../../../src/kernel/index.ts";
import { numbersFrom } from "../../server/gateway/random-agent.ts";
import { startPostgres } from "../../support/postgres/postgres-server.ts";
import { behave, startUpstream } from "../../support/upstream.ts";
import type { Actor, Load } from "./actor.ts";
import { addPeople, type ClusterPerson, createBudgetLoad } from "./budget-load.ts";
import { type ClusterReport, runCluster } from "./cluster.ts";
import { createConversationLoad, findPerson } from "./conversation-load.ts";
import { createGatewayActor } from "./gateway-actor.ts";
import { SpendingRecord } from "./spending-record.ts";

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

const PEOPLE = ["ada", "ben", "cleo"] as const;
/** Longest time until the provider begins its reply, so that kills hit requests in flight. */
const MAX_THINKING_MS = 300;

/** Runs two gateways on their own database, for a team with budgets, while they and the database die. */
export async function runGatewayCluster(options: GatewayClusterOptions): Promise<ClusterReport> {
  const { seed, conversations: count } = options;
  const server = await startPostgres();
  try {
    const store = `${server.url}?schema=cluster`;
    await using kernel = await openKernel({ store, embedder: null, monitor: false });
    const people = await addPeople(kernel, PEOPLE);
    const record = new SpendingRecord(PEOPLE);
    const upstream = await startRecordingUpstream(people, record, seed);
    const gateways = await Promise.all(
      ["gateway 1", "gateway 2"].map((name) => createGatewayActor(name, { store, upstream: upstream.url })),
    );
    const budgets = createBudgetLoad(kernel, record, Math.ceil(count / people.length));
    const load = createConversationLoad({ gateways, store, count, seed, people, record, budgets });
    const more = await options.extend?.(store);
    return await runCluster({
      server,
      actors: [...gateways, ...(more?.actors ?? [])],
      loads: [load, budgets, ...(more?.loads ?? [])],
      runMs: options.runMs,
      ...(options.minKills !== undefined && { minKills: options.minKills }),
      seed,
      ...(options.log && { log: options.log }),
    });
  } finally {
    await server.stop();
  }
}

/** A provider that answers each client by name and records the tokens that it served. */
function startRecordingUpstream(people: readonly ClusterPerson[], record: SpendingRecord, seed: number) {
  const random = numbersFrom(seed + 1);
  return startUpstream(async (heard, response) => {
    const client = [...heard.body.toString("utf8").matchAll(/client-\d+-\d+/g)].at(-1)?.[0] ?? "";
    const usage = { input: Math.ceil(heard.body.length / 4), cacheRead: 0, cacheWrite: 0, output: 20 };
    const number = record.recordServed(findPerson(people, client).name, usage.input + usage.output);
    await sleep(random(MAX_THINKING_MS));
    behave(heard, response, { type: "reply", reply: { text: `Reply ${number} to ${client}.`, usage } });
  });
}
