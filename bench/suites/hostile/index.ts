import type { Suite } from "../../suite.ts";
import { blocking } from "./blocking.ts";
import { largeBodies } from "./large-bodies.ts";

/** How long hostile texts block the event loop, and the memory and delays that large bodies cause. */
export const hostile: Suite = { measurements: [blocking, largeBodies] };
