import type { LanguageModel } from "ai";
import type { LonghaulModelOptions } from "./options.ts";
import { isLonghaulModel, withLonghaul } from "./with-longhaul.ts";

/**
 * The `prepareStep` of an agent, or of `generateText` and `streamText` with tools: every step speaks in the session. The
 * step's messages stay the caller's; its model is wrapped as `withLonghaul` does it, so that they are stored, fitted,
 * healed and answered. A model that is wrapped already is left alone.
 */
export function prepareStep(
  options: LonghaulModelOptions,
): (step: { readonly model: LanguageModel }) => { readonly model: LanguageModel } {
  const wrapped = new Map<LanguageModel, LanguageModel>();
  return ({ model }) => {
    if (isLonghaulModel(model)) return { model };
    const known = wrapped.get(model) ?? withLonghaul(model, options);
    // An agent changes between a few models; one that makes a new one for every step must not fill the memory.
    if (wrapped.size >= MOST_MODELS) wrapped.clear();
    wrapped.set(model, known);
    return { model: known };
  };
}

const MOST_MODELS = 16;
