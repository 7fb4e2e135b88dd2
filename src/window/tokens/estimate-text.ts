import { createArgumentError } from "../../model/errors.ts";
import { countFeatures } from "./count-features.ts";
import { TOKEN_WEIGHTS } from "./token-weights.ts";

/** Estimated tokens of a text, based on its scripts; on average within a few percent of o200k_base. */
export function estimateText(text: string): number {
  if (typeof text !== "string") throw createArgumentError("text", text, "a text");
  if (text.length === 0) return 0;
  const counts = countFeatures(text);
  let tokens = 0;
  for (let index = 0; index < counts.length; index++)
    tokens += (counts[index] as number) * (TOKEN_WEIGHTS[index] as number);
  return Math.max(1, Math.round(tokens));
}
