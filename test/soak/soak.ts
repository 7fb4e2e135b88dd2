// The soak: samples a gateway process under mixed work.
// By hand: node test/soak/soak.ts --requests 20000 --recall words
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Clients } from "./clients.ts";
import type { LiveObjects } from "./live-objects.ts";
import { type Started, startProcess } from "./orders.ts";
import type { Sample } from "./sample.ts";
import { startUpstream } from "./upstream.ts";

/** Options of a soak. */
export interface SoakOptions {
  readonly requests: number;
  readonly recall: Started["recall"];
  readonly samples?: number;
  /** Number of messages in the store at the start. */
  readonly fill?: number;
  readonly limits?: object;
  readonly kernelLimits?: object;
  /** Path prefix of two heap snapshots: after half of the requests, and at the end. */
  readonly snapshots?: string;
  readonly flags?: readonly string[];
  readonly onFilled?: (size: unknown) => void;
  readonly onSample?: (sample: SoakSample) => void;
}

export type SoakSample = Sample & { readonly requests: number };

/** Result of a soak. */
export interface SoakReport {
  readonly samples: readonly SoakSample[];
  /** Counted after a tenth of the requests, and at the end. */
  readonly objects: readonly LiveObjects[];
  readonly counts: Readonly<Record<string, number>>;
  readonly seconds: number;
}

/** Small bounds are reached early, so that later growth points to something unbounded. */
const LIMITS = { maxThreads: 100, maxThreadBytes: 4_000_000 };
const KERNEL_LIMITS = { blobCacheBytes: 1_000_000, maxVectorBytes: 4_000_000 };
/** Concurrent conversations, and conversations per round of session work. */
const AT_ONCE = 8;
const PER_ROUND = 8;

/** Runs a soak and returns its samples. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const { requests, recall, samples: wanted = 40, limits = LIMITS, kernelLimits = KERNEL_LIMITS } = options;
  const folder = mkdtempSync(join(tmpdir(), "longhaul-soak-"));
  const upstream = await startUpstream();
  const gateway = await startProcess(
    { folder, upstream: upstream.url, recall, limits, kernelLimits },
    options.flags,
  );
  const clients = new Clients(gateway.url);
  const samples: SoakSample[] = [];
  const startedMs = performance.now();
  let work: Record<string, number> = {};
  let round = 0;
  const objects: LiveObjects[] = [];
  const next = () => (requests * (samples.length + 1)) / wanted;
  try {
    if (options.fill) {
      const size = await gateway.order({ type: "fill", messages: options.fill });
      options.onFilled?.(size);
    }
    while (clients.counts.requests < requests) {
      const conversations = inTurns(PER_ROUND, AT_ONCE, () => clients.converse());
      if (recall !== "none") work = await gateway.order({ type: "work", round });
      await conversations;
      round++;
      if (clients.counts.requests < next()) continue;
      const sample = {
        requests: clients.counts.requests,
        ...(await gateway.order<Sample>({ type: "sample" })),
      };
      samples.push(sample);
      options.onSample?.(sample);
      // Counted early, because the collection affects the memory of the process for a while.
      if (samples.length === Math.ceil(wanted / 10)) objects.push(await gateway.order({ type: "objects" }));
      if (options.snapshots && samples.length === wanted >> 1)
        await gateway.order({ type: "snapshot", path: `${options.snapshots}-half.heapsnapshot` });
    }
    objects.push(await gateway.order({ type: "objects" }));
    if (options.snapshots)
      await gateway.order({ type: "snapshot", path: `${options.snapshots}-end.heapsnapshot` });
    await gateway.close();
  } finally {
    clients.close();
    upstream.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return {
    samples,
    objects,
    counts: { ...clients.counts, rounds: round, ...work },
    seconds: (performance.now() - startedMs) / 1_000,
  };
}

async function inTurns(count: number, atOnce: number, work: () => Promise<void>): Promise<void> {
  let left = count;
  const worker = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      requests: { type: "string", default: "20000" },
      recall: { type: "string", default: "words" },
      samples: { type: "string", default: "40" },
      fill: { type: "string", default: "0" },
      snapshots: { type: "string" },
      flags: { type: "string" },
    },
  });
  const report = await soak({
    requests: Number(values.requests),
    recall: values.recall as Started["recall"],
    samples: Number(values.samples),
    fill: Number(values.fill),
    onFilled: (size) => console.log(JSON.stringify(size)),
    ...(values.snapshots !== undefined && { snapshots: values.snapshots }),
    ...(values.flags !== undefined && { flags: values.flags.split(" ") }),
    onSample: (sample) => console.log(JSON.stringify(sample)),
  });
  for (const objects of report.objects) console.log(JSON.stringify(objects));
  console.log(JSON.stringify({ ...report.counts, seconds: Math.round(report.seconds) }));
}
