import type { Suite } from "../../suite.ts";
import { heldOut } from "./held-out.ts";
import { speed } from "./speed.ts";

/** Speed and quality of the bundled embedder. */
export const embedder: Suite = { measurements: [speed, heldOut] };
