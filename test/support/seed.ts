import * as fc from "fast-check";

/**
 * Properties see the same random cases in every run, so that a change is to blame for what it breaks. `LONGHAUL_SEED=random`
 * gives them others each time, a number just those.
 */
const { LONGHAUL_SEED: seed = "20261115" } = process.env;
if (seed !== "random") fc.configureGlobal({ seed: Number(seed) });
