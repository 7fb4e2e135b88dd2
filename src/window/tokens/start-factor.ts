import { plainModelId } from "../models/model-id.ts";

/** Claude before 4.7, measured on the growth of real windows: docs/tokens.md. */
const CLAUDE = 1.3;
/** From 4.7 on Claude counts about 30% more for the same text. */
const NEWER_CLAUDE = 1.7;

/**
 * What estimates are multiplied by until a provider has reported: the estimator follows OpenAI's o200k_base, other
 * makers' tokenizers cut finer. 1 where nothing is known; the safety margin is for that.
 */
export function startFactor(modelId: string): number {
  const { name } = plainModelId(modelId);
  if (!name.startsWith("claude-")) return 1;
  const [, major = "0", minor = "0"] = /-(\d{1,2})(?:-(\d{1,2}))?(?:\D|$)/.exec(name) ?? [];
  return Number(major) * 100 + Number(minor) >= 407 ? NEWER_CLAUDE : CLAUDE;
}
