import type { Bench } from "../../bench.ts";
import type { ChildPlace } from "../../child-job.ts";
import { openCorpus } from "../../corpus.ts";
import { atMost, atMostOfBeside, type Goal, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { expectWhole, openClient } from "./client.ts";
import { openContestant } from "./contestant.ts";
import { Conversation } from "./conversation.ts";
import { BYTES_PER_TOKEN, streamed, turnOf, usageOf } from "./reply.ts";
import { openUpstream } from "./upstream.ts";

interface Load {
  /** Conversations in the store, all of which begin with the same words. */
  readonly conversations: number;
  /** Size of the conversation that is continued. */
  readonly tokens: number;
}

interface FirstRequests {
  /** CPU of the start, until the gateway listens. */
  readonly startCpuMs: number;
  /** CPU of the first request after that, which continues the long conversation. */
  readonly longCpuMs: number;
  /** CPU of the second one, which continues another long conversation: its work, without that of code that is new. */
  readonly nextLongCpuMs: number;
  /** CPU of the third one, which continues a short conversation. */
  readonly shortCpuMs: number;
  /** Conversations that the restarted gateway has begun instead of continuing one. */
  readonly begun: number;
}

const TURNS = 20;
const TASK = "Read the project, please.";

/** Fills a store, restarts the gateway, and continues two long conversations and a short one. */
export async function restart({ conversations, tokens }: Load, place: ChildPlace): Promise<FirstRequests> {
  const upstream = await openUpstream(({ headers, body }) =>
    streamed(turnOf(String(headers["x-bench-turn"])), usageOf(body().length)),
  );
  const config = { models: { bench: { window: 1_000_000 } } };
  const job = { type: "gateway", upstream: upstream.url, folder: place.folder, config } as const;
  const client = openClient(4);
  const corpus = openCorpus(place.corpusFolder);
  const ask = async (url: string, conversation: Conversation, name: string, resultBytes: number) => {
    expectWhole(await client.ask(url, conversation.body(), { "x-bench-turn": name }));
    conversation.answered(turnOf(name), resultBytes);
  };
  const begin = (seed: number) =>
    new Conversation(corpus, { seed, systemBytes: 1_000, tools: 2, task: TASK });
  const first = await openContestant(job);
  const [short, long, nextLong] = [begin(0), begin(0), begin(0)];
  await ask(first.url, short, "short", 500);
  for (let turn = 0; turn < TURNS; turn++) {
    await ask(first.url, long, `long-${turn}`, (tokens * BYTES_PER_TOKEN) / TURNS);
    await ask(first.url, nextLong, `next-long-${turn}`, (tokens * BYTES_PER_TOKEN) / TURNS);
  }
  for (let count = 3; count < conversations; count++) await ask(first.url, begin(0), `other-${count}`, 500);
  await first.close();
  const second = await openContestant(job);
  const used = [await second.used()];
  await ask(second.url, long, "long-again", 500);
  used.push(await second.used());
  await ask(second.url, nextLong, "next-long-again", 500);
  used.push(await second.used());
  await ask(second.url, short, "short-again", 500);
  used.push(await second.used());
  const sessions = await fetch(`${second.url}/api/v1/sessions?limit=3`).then((reply) => reply.json());
  await second.close();
  client.close();
  upstream.close();
  const [start = 0, ...ends] = used.map(({ cpuMs }) => cpuMs);
  const [longCpuMs = 0, nextLongCpuMs = 0, shortCpuMs = 0] = ends.map(
    (end, index) => end - (ends[index - 1] ?? start),
  );
  const newest = (sessions as { readonly sessions?: readonly { readonly id: string }[] }).sessions ?? [];
  const ordinals = newest.map(({ id }) => Number(/-(\d+)$/.exec(id)?.[1] ?? 1));
  return {
    startCpuMs: start,
    longCpuMs,
    nextLongCpuMs,
    shortCpuMs,
    begun: Math.max(0, ...ordinals.map((ordinal) => ordinal - conversations)),
  };
}

/** The first requests after a restart: as quick in a store of ten thousand conversations as in one of ten. */
export const restarts: Measurement = {
  name: "restart",
  async *run(bench: Bench) {
    const tokens = bench.isQuick ? 50_000 : 200_000;
    const [few, many] = [10, bench.isQuick ? 200 : 10_000];
    const measure = (conversations: number) =>
      bench.child(`${conversations} conversations`, import.meta.url, restart, { conversations, tokens });
    const small = await measure(few);
    const large = await measure(many);
    const unit = `ms CPU, ${many} conversations`;
    const beside = `${few} conversations`;
    const compare = (id: string, key: keyof FirstRequests, goal?: Goal, size = "") =>
      toRow({ id, value: large[key], unit: unit + size, beside, besideValue: small[key], goal });
    yield compare("restart.start", "startCpuMs");
    yield compare("restart.first", "longCpuMs", atMost(100, "ms"), `, ${tokens / 1_000}k tokens`);
    yield compare("restart.next.long", "nextLongCpuMs", undefined, `, ${tokens / 1_000}k tokens`);
    yield compare("restart.first.many", "longCpuMs", atMostOfBeside(1.25));
    yield compare("restart.next", "shortCpuMs", atMostOfBeside(1.25));
    yield toRow({
      id: "restart.begun",
      value: small.begun + large.begun,
      unit: "conversations not found",
      goal: atMost(0, ""),
    });
  },
};
