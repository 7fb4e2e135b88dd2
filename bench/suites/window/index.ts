import type { Suite } from "../../suite.ts";
import { evidence } from "./evidence.ts";
import { planning } from "./planning.ts";
import { policies } from "./policies.ts";

/** What the next call is sent. */
export const window: Suite = { measurements: [planning, policies, evidence] };
