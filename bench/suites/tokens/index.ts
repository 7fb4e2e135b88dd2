import type { Suite } from "../../suite.ts";
import { calibrated } from "./calibrated.ts";
import { error } from "./error.ts";
import { speed } from "./speed.ts";

/** Accuracy and speed of token estimates. */
export const tokens: Suite = { measurements: [error, calibrated, speed] };
