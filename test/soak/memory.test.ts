import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const SCRIPT = fileURLToPath(new URL("mixed-work.ts", import.meta.url));
const rounds = Math.ceil(600 * Number(process.env.LONGHAUL_SOAK ?? 1));
/** Growth per 10,000 requests that counts as none: caches fill, and the allocator keeps its pages. */
const MOST_MB = { heapUsed: 8, external: 2, rss: 60 } as const;

/** Fewer requests only warm up compiled code and caches. */
const LEAST_REQUESTS = 8_000;

type Sample = Readonly<Record<"requests" | "rss" | "heapUsed" | "external" | "openSessions", number>>;

test(`memory does not grow under ${rounds} rounds of mixed work`, async () => {
  const run = promisify(execFile);
  const args = ["--expose-gc", SCRIPT, String(rounds), "40"];
  const { stdout } = await run(process.execPath, args, { maxBuffer: 16_000_000 });
  const samples = stdout
    .trim()
    .split("\n")
    .map((line): Sample => JSON.parse(line));
  // The first half fills caches, all of which are bounded.
  const settled = samples.slice(samples.length >> 1);
  const slopes = Object.fromEntries(
    (["heapUsed", "external", "rss"] as const).map((name) => [name, (slopeOf(settled, name) * 10_000) / 1e6]),
  );
  const requests = samples.at(-1)?.requests ?? 0;
  for (const [name, slope] of Object.entries(slopes))
    console.log(`${name}: ${slope.toFixed(2)} MB per 10,000 requests, over the last half of ${requests}`);
  if (requests < LEAST_REQUESTS) return console.log("too few requests to judge growth");
  for (const [name, most] of Object.entries(MOST_MB)) expect(slopes[name], name).toBeLessThan(most);
  expect(samples.at(-1)?.openSessions).toBeLessThanOrEqual((settled[0]?.openSessions ?? 0) + 10);
});

/** Slope of the samples per request: the median over all pairs, so that a single garbage collection does not matter. */
function slopeOf(samples: readonly Sample[], name: "heapUsed" | "external" | "rss"): number {
  const slopes: number[] = [];
  for (const [index, one] of samples.entries())
    for (const other of samples.slice(index + 1))
      slopes.push((other[name] - one[name]) / (other.requests - one.requests));
  slopes.sort((left, right) => left - right);
  return slopes[slopes.length >> 1] ?? 0;
}
