import type { Suite } from "../../suite.ts";
import { heldOut } from "./held-out.ts";
import { speed } from "./speed.ts";

/** The embedder that comes with the package: how fast it is and what it finds. */
export const embedder: Suite = { measurements: [speed, heldOut] };
