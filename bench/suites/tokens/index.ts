import type { Suite } from "../../suite.ts";
import { calibrated } from "./calibrated.ts";
import { error } from "./error.ts";
import { speed } from "./speed.ts";

/** How well and how fast tokens are estimated. */
export const tokens: Suite = { measurements: [error, calibrated, speed] };
