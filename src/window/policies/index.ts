import type { Policy } from "../policy.ts";
import { anthropicClearPolicy } from "./anthropic-clear-policy.ts";
import { clinePolicy } from "./cline-policy.ts";
import { longhaul } from "./longhaul.ts";
import { nonePolicy } from "./none-policy.ts";
import { openclawPolicy } from "./openclaw-policy.ts";
import { rooPolicy } from "./roo-policy.ts";

/** All policies, the default first. */
export const POLICIES: readonly Policy[] = [
  longhaul(),
  nonePolicy(),
  clinePolicy(),
  rooPolicy(),
  openclawPolicy(),
  anthropicClearPolicy(),
];
