import type { Suite } from "../../suite.ts";
import { coding, fits } from "./cost.ts";
import { loops, silent } from "./edits.ts";
import { evidence } from "./evidence.ts";
import { sessions } from "./sessions.ts";
import { endless, turns } from "./turns.ts";

/** A conversation that continues, as people and agents live in it: mostly through the gateway, turn after turn. */
export const living: Suite = {
  measurements: [...evidence, ...sessions, silent, loops, turns, endless, coding, fits],
};
