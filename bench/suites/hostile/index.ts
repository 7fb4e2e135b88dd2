import type { Suite } from "../../suite.ts";
import { blocking } from "./blocking.ts";

/** How long texts that are made to be slow hold up the one thread. */
export const hostile: Suite = { measurements: [blocking] };
