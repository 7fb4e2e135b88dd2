import type { Policy } from "../policy.ts";
import { anthropicClear } from "./anthropic-clear.ts";
import { cline } from "./cline.ts";
import { longhaul } from "./longhaul.ts";
import { none } from "./none.ts";
import { openclaw } from "./openclaw.ts";
import { roo } from "./roo.ts";

/** All policies, the default first. */
export const POLICIES: readonly Policy[] = [longhaul(), none(), cline(), roo(), openclaw(), anthropicClear()];
