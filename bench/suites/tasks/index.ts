import type { Suite } from "../../suite.ts";
import { overhead } from "./overhead.ts";

/** Overhead of running an agent as a task. */
export const tasks: Suite = { measurements: [overhead] };
