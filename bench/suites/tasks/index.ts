import type { Suite } from "../../suite.ts";
import { overhead } from "./overhead.ts";

/** Tasks: what running an agent as one costs. */
export const tasks: Suite = { measurements: [overhead] };
