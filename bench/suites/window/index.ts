import type { Suite } from "../../suite.ts";
import { evidence } from "./evidence.ts";
import { planning } from "./planning.ts";
import { policies } from "./policies.ts";

/** Policies for the context window. */
export const window: Suite = { measurements: [planning, policies, evidence] };
