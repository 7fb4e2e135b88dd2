import type { Suite } from "../../suite.ts";
import { blocking } from "./blocking.ts";

/** Time that adversarial texts block the main thread. */
export const hostile: Suite = { measurements: [blocking] };
