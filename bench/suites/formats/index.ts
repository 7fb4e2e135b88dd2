import type { Suite } from "../../suite.ts";
import { importSpeed } from "./import-speed.ts";
import { real } from "./real.ts";
import { watching } from "./watch-idle.ts";

/** Import of other agents' histories. */
export const formats: Suite = { measurements: [importSpeed, real, watching] };
