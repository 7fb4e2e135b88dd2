import { expect, test } from "vitest";
import { risenObjects } from "../soak/live-objects-verdict.ts";
import { soak } from "../soak/soak.ts";

const REQUESTS = 400;
/** So few conversations are held after the first quarter of the requests already. */
const LIMITS = { maxThreads: 10, maxThreadBytes: 4_000_000 };
/** Objects more than before that are none: connections come and go. A leak of one a request would be 300. */
const MAX_RISE = 15;
/** Compiled code and caches that are not full take less; a leak of 30 KB a request takes more. */
const MAX_HEAP_RISE = 8e6;
const TIMEOUT_MS = 600_000;

test(
  `${REQUESTS} requests and the work around them leave no object, file, timer, session or heap behind`,
  async () => {
    const { samples, objects, counts } = await soak({
      requests: REQUESTS,
      recall: "words",
      samples: 4,
      limits: LIMITS,
    });
    const [early, late] = [samples.at(0), samples.at(-1)];
    if (!early || !late) throw new Error("The soak took no samples.");
    expect(counts.failed).toBe(0);
    expect(counts.aborted).toBeGreaterThan(5);
    expect(risenObjects(objects, MAX_RISE)).toEqual([]);
    expect(late.heapBytes - early.heapBytes).toBeLessThan(MAX_HEAP_RISE);
    expect(late.files - early.files).toBeLessThan(10);
    expect(late.resources - early.resources).toBeLessThan(10);
    for (const name of ["timers", "listeners", "openDrafts", "openTails"] as const)
      expect(late[name], name).toBeLessThanOrEqual(early[name]);
    expect(late.openSessions - early.openSessions).toBeLessThan(10);
  },
  TIMEOUT_MS,
);
