import { parseModelId } from "../../model/model-id.ts";

/** For Claude before 4.7, measured on the growth of real windows; see docs/money.md. */
const CLAUDE = 1.3;
/** Since 4.7, Claude counts about 30 % more for the same text. */
const NEWER_CLAUDE = 1.7;

/**
 * Initial factor for estimates, used until the provider reports: the estimator follows OpenAI's o200k_base, and other
 * vendors' tokenizers split text more finely. 1 if nothing is known, which the safety margin covers.
 */
export function chooseStartFactor(modelId: string): number {
  const { name } = parseModelId(modelId);
  if (!name.startsWith("claude-")) return 1;
  const [, major = "0", minor = "0"] = /-(\d{1,2})(?:-(\d{1,2}))?(?:\D|$)/.exec(name) ?? [];
  return Number(major) * 100 + Number(minor) >= 407 ? NEWER_CLAUDE : CLAUDE;
}
