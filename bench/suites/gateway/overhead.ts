import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bench } from "../../bench.ts";
import type { ChildPlace } from "../../child-job.ts";
import { openCorpus } from "../../corpus.ts";
import { median, percentile } from "../../measure/percentile.ts";
import { atMost, type Goal, type Row, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { expectWhole, openClient } from "./client.ts";
import { type Contestant, openContestant } from "./contestant.ts";
import type { ContestantJob } from "./contestant-job.ts";
import { Conversation } from "./conversation.ts";
import { streamed, turnOf, usageOf } from "./reply.ts";
import { openUpstream } from "./upstream.ts";

interface Load {
  readonly requests: number;
  readonly warmUp: number;
  /** Bytes of the initial conversation, and of each added result. */
  readonly beginBytes: number;
  readonly resultBytes: number;
}

/** Times of one contestant. */
interface Taken {
  /** For a conversation it had not seen before. */
  readonly firstMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMs: number;
  /** For a repetition of the same request, as when a client retries. */
  readonly againMs: number;
  /** CPU for a conversation that a warm contestant had not seen before. */
  readonly unseenCpuMs: number;
}

type Name = "bare" | "whole" | "none" | "default" | "edited";

/** Real models take longer to answer, so work after a reply is done before the next request. */
const PAUSE_MS = 10;
/** Repetitions of the last request; 100 or more would count as a loop. */
const AGAIN = 60;
/** Other conversations of the same size, sent once each; work after the reply counts. */
const UNSEEN = 10;
const UNSEEN_PAUSE_MS = 150;
const LARGE_WINDOW = 1_000_000;
const SMALL_WINDOW = 128_000;

/** One long conversation, with each request sent through every contestant in turn. */
export async function askThroughAll(load: Load, place: ChildPlace): Promise<Record<Name, Taken>> {
  const upstream = await openUpstream(({ headers }) =>
    streamed(turnOf(String(headers["x-bench-turn"])), usageOf(Number(headers["content-length"]))),
  );
  const contestants = await openAll(jobsOf(upstream.url, place.folder));
  const client = openClient(1);
  const conversation = openConversation(1, load, place);

  const names = Object.keys(contestants) as Name[];
  const ms = byName(names, () => [] as number[]);
  let before = byName(names, () => 0);
  for (let turn = 0; turn < load.warmUp + load.requests; turn++) {
    if (turn === load.warmUp) before = await cpuOf(contestants);
    const body = conversation.body();
    const headers = { "x-bench-turn": `now${turn}`, "x-claude-code-session-id": "bench" };
    for (let at = 0; at < names.length; at++) {
      const name = names[(turn + at) % names.length] as Name;
      const received = await client.ask(contestants[name].url, body, headers);
      ms[name].push(expectWhole(received).ms);
      await sleep(PAUSE_MS);
    }
    conversation.answered(turnOf(`now${turn}`), load.resultBytes);
  }
  const after = await cpuOf(contestants);
  const again = byName(names, () => [] as number[]);
  const last = conversation.body();
  for (let time = 0; time < AGAIN; time++) {
    for (const name of names) {
      const headers = { "x-bench-turn": `again${time}`, "x-claude-code-session-id": "bench" };
      again[name].push(expectWhole(await client.ask(contestants[name].url, last, headers)).ms);
      await sleep(PAUSE_MS);
    }
  }
  const unseen = byName(names, () => [] as number[]);
  for (let seed = 2; seed < 2 + UNSEEN; seed++) {
    const body = openConversation(seed, load, place).body();
    const headers = { "x-bench-turn": `unseen${seed}`, "x-claude-code-session-id": `bench-${seed}` };
    for (const name of names) {
      const { cpuMs } = await contestants[name].used();
      expectWhole(await client.ask(contestants[name].url, body, headers));
      await sleep(UNSEEN_PAUSE_MS);
      unseen[name].push((await contestants[name].used()).cpuMs - cpuMs);
    }
  }
  client.close();
  for (const contestant of Object.values(contestants)) await contestant.close();
  upstream.close();
  return byName(names, (name) => {
    const measured = ms[name].slice(load.warmUp);
    return {
      firstMs: ms[name][0] ?? Number.NaN,
      p50Ms: median(measured),
      p99Ms: percentile(measured, 0.99),
      cpuMs: (after[name] - before[name]) / load.requests,
      againMs: median(again[name].slice(1)),
      unseenCpuMs: median(unseen[name]),
    };
  });
}

function openConversation(seed: number, { beginBytes }: Load, place: ChildPlace): Conversation {
  const conversation = new Conversation(openCorpus(place.corpusFolder), {
    seed,
    systemBytes: 12_000,
    tools: 20,
    task: "Read the whole project and say what each file is for.",
  });
  for (let turn = 0, bytes = 0; bytes < beginBytes; turn++, bytes += 4_000)
    conversation.answered(turnOf(`before${turn}`), 4_000);
  return conversation;
}

function jobsOf(upstream: string, folder: string): Record<Name, ContestantJob> {
  const ours = (name: string, config: object): ContestantJob => {
    const own = join(folder, name);
    mkdirSync(own);
    return { type: "gateway", upstream, folder: own, config };
  };
  // With free cache reads nothing can be saved, so the whole conversation is sent.
  const prices = { input: 5, output: 25, cacheWrite: 6.25, cacheRead: 0 };
  return {
    bare: { type: "bare", handing: "piped", upstream },
    whole: { type: "bare", handing: "whole", upstream },
    none: ours("none", { policy: "none" }),
    default: ours("default", { models: { bench: { window: LARGE_WINDOW, prices } } }),
    edited: ours("edited", { models: { bench: { window: SMALL_WINDOW } } }),
  };
}

async function openAll(jobs: Record<Name, ContestantJob>): Promise<Record<Name, Contestant>> {
  const opened = Object.entries(jobs).map(async ([name, job]) => [name, await openContestant(job)] as const);
  return Object.fromEntries(await Promise.all(opened)) as Record<Name, Contestant>;
}

async function cpuOf(contestants: Record<Name, Contestant>): Promise<Record<Name, number>> {
  const read = Object.entries(contestants).map(
    async ([name, contestant]) => [name, (await contestant.used()).cpuMs] as const,
  );
  return Object.fromEntries(await Promise.all(read)) as Record<Name, number>;
}

function byName<Value>(names: readonly Name[], of: (name: Name) => Value): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, Value>;
}

function* rowsOf(name: Exclude<Name, "bare">, taken: Taken, bare: Taken): Generator<Row> {
  const isOurs = name !== "whole";
  const added = (id: string, value: number, besideValue: number, goal?: Goal): Row =>
    toRow({
      id: `overhead.${name}.${id}`,
      value: value - besideValue,
      unit: "ms added",
      beside: "bare proxy, the whole request",
      besideValue,
      goal: isOurs ? goal : undefined,
    });
  yield added("p50", taken.p50Ms, bare.p50Ms, atMost(3, "ms"));
  yield added("p99", taken.p99Ms, bare.p99Ms, atMost(20, "ms"));
  yield added("first", taken.firstMs, bare.firstMs);
  yield added("again", taken.againMs, bare.againMs, atMost(3, "ms"));
  yield toRow({
    id: `overhead.${name}.cpu`,
    value: taken.cpuMs,
    unit: "ms a request",
    beside: "bare proxy",
    besideValue: bare.cpuMs,
  });
  yield toRow({
    id: `overhead.${name}.unseen`,
    value: taken.unseenCpuMs,
    unit: "ms of CPU",
    beside: "bare proxy",
    besideValue: bare.unseenCpuMs,
    goal: isOurs ? atMost(80, "ms") : undefined,
  });
}

/** The gateway's overhead on requests of 200,000 tokens (600 KB to 1 MB) with streamed replies. */
export const overhead: Measurement = {
  name: "overhead",
  async *run(bench: Bench) {
    const requests = bench.isQuick ? 60 : 300;
    const load = { requests, warmUp: 30, beginBytes: 600_000, resultBytes: bench.isQuick ? 4_000 : 1_200 };
    const { bare, ...others } = await bench.child("200k tokens", import.meta.url, askThroughAll, load);
    for (const [name, taken] of Object.entries(others))
      yield* rowsOf(name as Exclude<Name, "bare">, taken, bare);
  },
};
