import type { Suite } from "../../suite.ts";
import { importSpeed } from "./import-speed.ts";
import { real } from "./real.ts";

/** Histories of other agents. */
export const formats: Suite = { measurements: [importSpeed, real] };
