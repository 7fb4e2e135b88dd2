import type { Suite } from "../../suite.ts";
import { blocking } from "./blocking.ts";
import { largeBodies } from "./large-bodies.ts";

/** How long texts that are made to be slow hold up the one thread, and what large bodies take. */
export const hostile: Suite = { measurements: [blocking, largeBodies] };
