import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Bench } from "../../bench.ts";
import type { ChildPlace } from "../../child-job.ts";
import { openCorpus } from "../../corpus.ts";
import { alternate } from "../../measure/alternate.ts";
import { megabytes } from "../../measure/memory.ts";
import { median } from "../../measure/percentile.ts";
import { type Row, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { expectWhole, openClient } from "./client.ts";
import { type Contestant, openContestant } from "./contestant.ts";
import { Conversation } from "./conversation.ts";
import { longStream } from "./reply.ts";
import { openUpstream } from "./upstream.ts";

interface Load {
  readonly rounds: number;
  readonly events: number;
}

type Name = "bare" | "none" | "default";

interface Relayed {
  readonly bytes: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** Providers send a few events at a time. */
const EVENTS_PER_WRITE = 8;

/** Sends long replies through every contestant in turn. */
export async function relayStreams(
  { rounds, events }: Load,
  place: ChildPlace,
): Promise<Record<Name, Relayed>> {
  const answer = longStream(events, EVENTS_PER_WRITE);
  const upstream = await openUpstream(() => answer);
  const { url } = upstream;
  const ours = (name: string, config: object) => {
    const folder = join(place.folder, name);
    mkdirSync(folder);
    return openContestant({ type: "gateway", upstream: url, folder, config });
  };
  const contestants: Record<Name, Contestant> = {
    bare: await openContestant({ type: "bare", handing: "piped", upstream: url }),
    none: await ours("none", { policy: "none" }),
    default: await ours("default", {}),
  };
  const client = openClient(1);
  const corpus = openCorpus(place.corpusFolder);
  const round = (contestant: Contestant) => async (number: number) => {
    const conversation = new Conversation(corpus, {
      seed: number,
      systemBytes: 1_000,
      tools: 1,
      task: `Write ${number}.`,
    });
    const before = await contestant.used();
    const received = expectWhole(await client.ask(contestant.url, conversation.body()));
    const after = await contestant.used();
    const cpuSeconds = (after.cpuMs - before.cpuMs) / 1_000;
    return { bytes: received.bytes, seconds: received.ms / 1_000, cpuSeconds };
  };
  const relayed = await alternate(rounds + 1, {
    bare: round(contestants.bare),
    none: round(contestants.none),
    default: round(contestants.default),
  });
  client.close();
  for (const contestant of Object.values(contestants)) await contestant.close();
  upstream.close();
  const middle = (name: Name): Relayed => {
    const counted = relayed[name].slice(1);
    return {
      bytes: counted[0]?.bytes ?? 0,
      seconds: median(counted.map(({ seconds }) => seconds)),
      cpuSeconds: median(counted.map(({ cpuSeconds }) => cpuSeconds)),
    };
  };
  return { bare: middle("bare"), none: middle("none"), default: middle("default") };
}

function* rowsOf({ events }: Load, { bare, ...others }: Record<Name, Relayed>): Generator<Row> {
  const beside = "bare proxy";
  for (const [name, { bytes, seconds, cpuSeconds }] of Object.entries(others)) {
    const row = (id: string, unit: string, value: number, besideValue: number) =>
      toRow({ id: `stream.${name}.${id}`, value, unit, beside, besideValue });
    yield row("bytes", "MB/s", megabytes(bytes) / seconds, megabytes(bare.bytes) / bare.seconds);
    yield row("events", "events/s", events / seconds, events / bare.seconds);
    yield row("cpu", "µs an event", (1e6 * cpuSeconds) / events, (1e6 * bare.cpuSeconds) / events);
  }
}

/** Throughput of a streamed reply, and the cost per event. */
export const stream: Measurement = {
  name: "stream",
  async *run(bench: Bench) {
    const load = { rounds: bench.isQuick ? 3 : 7, events: bench.isQuick ? 20_000 : 100_000 };
    yield* rowsOf(load, await bench.child("long answers", import.meta.url, relayStreams, load));
  },
};
