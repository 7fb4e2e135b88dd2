import * as fc from "fast-check";

/**
 * Property tests see the same random cases in every run, so that a failure points to a change. `LONGHAUL_SEED=random`
 * uses new cases each time, a number exactly those.
 */
const { LONGHAUL_SEED: seed = "20261115" } = process.env;
if (seed !== "random") fc.configureGlobal({ seed: Number(seed) });
