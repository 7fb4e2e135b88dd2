import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Bench } from "../../bench.ts";
import type { ChildPlace } from "../../child-job.ts";
import { type Corpus, openCorpus } from "../../corpus.ts";
import { alternate } from "../../measure/alternate.ts";
import { median } from "../../measure/percentile.ts";
import { installedVersion } from "../../peers/install.ts";
import { portkeyHeaders } from "../../peers/portkey.ts";
import { atLeast, atLeastOfBeside, atMostOfBeside, type Row, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { type Client, expectWhole, openClient } from "./client.ts";
import { type Contestant, openContestant } from "./contestant.ts";
import { Conversation } from "./conversation.ts";
import { streamed, turnOf, usageOf } from "./reply.ts";
import { openUpstream } from "./upstream.ts";

/** The header that tells the upstream which turn to answer with. */
const TURN_HEADER = "x-bench-turn";
const NO_RATE = Promise.resolve({ perSecond: 0, perCpuSecond: 0 });
/** Goals with the full log and the default policy: small requests, and the CPU of one compared with Portkey's. */
const MIN_PER_CORE = 1_000;
const MAX_OF_PORTKEY = { small: 1, usual: 0.7 };

/** The requests of one connection: consecutive conversations of `turns` turns. */
interface Load {
  readonly connections: number;
  readonly rounds: number;
  readonly conversations: number;
  readonly turns: number;
  readonly systemBytes: number;
  readonly tools: number;
  readonly resultBytes: number;
  /** False where Portkey's gateway is not installed. */
  readonly hasPortkey: boolean;
}

/** "door" is the gateway on an endpoint that it forwards without its log: the cost of its door and its relay alone. */
type Name = "bare" | "whole" | "door" | "none" | "default";
type Rates = Record<Name, Rate> & { readonly portkey?: Rate };

/** An endpoint that the gateway forwards unchanged. */
const FORWARDED_PATH = "/v1/complete";

interface Rate {
  readonly perSecond: number;
  readonly perCpuSecond: number;
}

/** Many concurrent connections, each with its own conversations. */
export async function askAtOnce(load: Load, place: ChildPlace): Promise<Rates> {
  const upstream = await openUpstream(({ headers }) =>
    streamed(turnOf(String(headers[TURN_HEADER])), usageOf(Number(headers["content-length"]))),
  );
  const { url } = upstream;
  const ours = (name: string, config: object) => {
    const folder = join(place.folder, name);
    mkdirSync(folder);
    return openContestant({ type: "gateway", upstream: url, folder, config });
  };
  const portkey = load.hasPortkey && (await openContestant({ type: "portkey", upstream: url }));
  const contestants: Record<Name, Contestant> = {
    bare: await openContestant({ type: "bare", handing: "piped", upstream: url }),
    whole: await openContestant({ type: "bare", handing: "whole", upstream: url }),
    door: await ours("door", {}),
    none: await ours("none", { policy: "none" }),
    default: await ours("default", {}),
  };
  const client = openClient(load.connections);
  const corpus = openCorpus(place.corpusFolder);
  const round = (contestant: Contestant, path?: string) => (number: number) =>
    oneRound({ load, client, contestant, corpus, path }, number);
  const portkeyClient = withHeaders(client, portkeyHeaders(url, TURN_HEADER));
  const portkeyRound = (number: number) =>
    portkey
      ? oneRound({ load, client: portkeyClient, contestant: portkey, corpus, path: undefined }, number)
      : NO_RATE;
  const rates = await alternate(load.rounds + 1, {
    bare: round(contestants.bare),
    whole: round(contestants.whole),
    door: round(contestants.door, FORWARDED_PATH),
    none: round(contestants.none),
    default: round(contestants.default),
    portkey: portkeyRound,
  });
  client.close();
  for (const contestant of [...Object.values(contestants), ...(portkey ? [portkey] : [])])
    await contestant.close();
  upstream.close();
  const middle = (name: Name | "portkey"): Rate => {
    // The first round only warms up.
    const counted = rates[name].slice(1);
    return {
      perSecond: median(counted.map(({ perSecond }) => perSecond)),
      perCpuSecond: median(counted.map(({ perCpuSecond }) => perCpuSecond)),
    };
  };
  const own = {
    bare: middle("bare"),
    whole: middle("whole"),
    door: middle("door"),
    none: middle("none"),
    default: middle("default"),
  };
  return { ...own, ...(portkey && { portkey: middle("portkey") }) };
}

interface RoundOptions {
  readonly load: Load;
  readonly client: Client;
  readonly contestant: Contestant;
  readonly corpus: Corpus;
  readonly path: string | undefined;
}

async function oneRound(
  { load, client, contestant, corpus, path }: RoundOptions,
  round: number,
): Promise<Rate> {
  const { connections, conversations, turns } = load;
  const scripts = Array.from({ length: connections }, (_, connection) =>
    Array.from({ length: conversations }, (_, index) =>
      scriptOf(load, corpus, (round * connections + connection) * conversations + index),
    ).flat(),
  );
  const before = await contestant.used();
  const startedMs = performance.now();
  await Promise.all(
    scripts.map(async (script) => {
      for (const { body, headers } of script)
        expectWhole(await client.ask(contestant.url, body, headers, path));
    }),
  );
  const seconds = (performance.now() - startedMs) / 1_000;
  const after = await contestant.used();
  const requests = connections * conversations * turns;
  const cpuSeconds = (after.cpuMs - before.cpuMs) / 1_000;
  return { perSecond: requests / seconds, perCpuSecond: requests / cpuSeconds };
}

/** A client that sends more headers with each request. */
function withHeaders(client: Client, headers: Readonly<Record<string, string>>): Client {
  return { ...client, ask: (url, body, own = {}) => client.ask(url, body, { ...own, ...headers }) };
}

interface Scripted {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** All requests of a conversation, built in advance. */
function scriptOf(
  { turns, systemBytes, tools, resultBytes }: Load,
  corpus: Corpus,
  seed: number,
): Scripted[] {
  const conversation = new Conversation(corpus, { seed, systemBytes, tools, task: `Task ${seed}: read on.` });
  return Array.from({ length: turns }, (_, turn) => {
    const name = `${seed}x${turn}`;
    const headers = { [TURN_HEADER]: name, "x-claude-code-session-id": `session-${seed}` };
    const body = conversation.body();
    conversation.answered(turnOf(name), resultBytes);
    return { body, headers };
  });
}

function* rowsOf(size: string, rates: Rates): Generator<Row> {
  const { bare, portkey, ...others } = rates;
  yield* portkeyRows(size, rates);
  for (const [name, rate] of Object.entries(others)) {
    const id = `throughput.${size}.${name}`;
    const goal = name === "whole" ? {} : { goal: atLeastOfBeside(0.5) };
    yield toRow({
      id,
      value: rate.perSecond,
      unit: "requests/s",
      beside: "bare proxy",
      besideValue: bare.perSecond,
      ...goal,
    });
    yield toRow({
      id: `${id}.cpu`,
      value: rate.perCpuSecond,
      unit: "a CPU second",
      beside: "bare proxy",
      besideValue: bare.perCpuSecond,
    });
  }
}

/** Portkey's gateway, and ours next to it. */
function* portkeyRows(size: string, { bare, portkey, default: ours }: Rates): Generator<Row> {
  const id = `throughput.${size}.portkey`;
  const missing = "Portkey is not installed: npm ci in bench/peers";
  const beside = portkey ? "bare proxy" : missing;
  yield toRow({
    id,
    value: portkey?.perSecond ?? null,
    unit: "requests/s",
    beside,
    besideValue: bare.perSecond,
  });
  yield toRow({
    id: `${id}.cpu`,
    value: portkey?.perCpuSecond ?? null,
    unit: "a CPU second",
    beside,
    besideValue: bare.perCpuSecond,
  });
  const peer = portkey ? "Portkey's gateway, without a log" : missing;
  yield toRow({
    id: `throughput.${size}.default.request`,
    value: 1_000 / ours.perCpuSecond,
    unit: "ms CPU",
    beside: peer,
    besideValue: portkey ? 1_000 / portkey.perCpuSecond : null,
    goal: atMostOfBeside(size === "small" ? MAX_OF_PORTKEY.small : MAX_OF_PORTKEY.usual),
  });
  if (size !== "small") return;
  yield toRow({
    id: "throughput.small.default.core",
    value: ours.perCpuSecond,
    unit: "a CPU second",
    beside: peer,
    besideValue: portkey?.perCpuSecond ?? null,
    goal: atLeast(MIN_PER_CORE, "a CPU second"),
  });
}

/** Requests per second at 64 connections: small ones (2 to 6 KB) and typical ones of coding agents (25 to 75 KB). */
export const throughput: Measurement = {
  name: "throughput",
  async *run(bench: Bench) {
    const installed = await installedVersion("portkey");
    const hasPortkey = typeof installed === "string";
    bench.note(
      hasPortkey ? `Portkey's gateway ${installed}` : `Left out Portkey's gateway: ${installed.message}`,
    );
    const common = { hasPortkey, connections: 64, rounds: bench.isQuick ? 1 : 5 };
    const small = { systemBytes: 1_000, tools: 1, resultBytes: 200, conversations: 3, turns: 10 };
    const usual = { systemBytes: 9_000, tools: 20, resultBytes: 2_300, conversations: 1, turns: 20 };
    for (const [size, load] of Object.entries({ small, usual }))
      yield* rowsOf(size, await bench.child(size, import.meta.url, askAtOnce, { ...common, ...load }));
  },
};
