import type { Suite } from "../../suite.ts";
import { blocking } from "./blocking.ts";
import { largeBodies } from "./large-bodies.ts";
import { peaks } from "./peaks.ts";

/** How long hostile texts block the event loop, and the memory and delays that large bodies and hostile providers cause. */
export const hostile: Suite = { measurements: [blocking, largeBodies, peaks] };
