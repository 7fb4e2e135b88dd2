import type { Suite } from "../../suite.ts";
import { extractive } from "./extractive.ts";

/** Summaries without a model. */
export const compact: Suite = { measurements: [extractive] };
