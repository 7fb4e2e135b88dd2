import type { Policy } from "../policy.ts";
import { anthropicClearPolicy } from "./anthropic-clear.ts";
import { clinePolicy } from "./cline.ts";
import { longhaul } from "./longhaul.ts";
import { nonePolicy } from "./none.ts";
import { openclawPolicy } from "./openclaw.ts";
import { rooPolicy } from "./roo.ts";

/** All policies, the default first. */
export const POLICIES: readonly Policy[] = [
  longhaul(),
  nonePolicy(),
  clinePolicy(),
  rooPolicy(),
  openclawPolicy(),
  anthropicClearPolicy(),
];
