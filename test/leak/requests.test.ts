import { expect } from "vitest";
import { risenObjects } from "../soak/live-objects-verdict.ts";
import { soak } from "../soak/soak.ts";
import { proofTest } from "../support/proof.ts";

const REQUESTS = 400;
/** Small enough to be reached within the first quarter of the requests. */
const LIMITS = { maxThreads: 10, maxThreadBytes: 4_000_000 };
/** Tolerated rise in live objects, because connections come and go; a leak of one per request would be three quarters of the requests. */
const MAX_RISE = 15;
const TIMEOUT_MS = 600_000;

proofTest(
  `${REQUESTS} requests and the work around them leave no object, file, timer or session behind`,
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
    expect(counts.aborted).toBeGreaterThan(REQUESTS / 80);
    expect(risenObjects(objects, MAX_RISE)).toEqual([]);
    expect(late.files - early.files).toBeLessThan(10);
    expect(late.resources - early.resources).toBeLessThan(10);
    for (const name of ["timers", "listeners", "openDrafts", "openTails"] as const)
      expect(late[name], name).toBeLessThanOrEqual(early[name]);
    expect(late.openSessions - early.openSessions).toBeLessThan(10);
  },
  TIMEOUT_MS,
);
