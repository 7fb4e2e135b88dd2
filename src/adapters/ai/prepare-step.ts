import type { LanguageModel } from "ai";
import { BoundedMap } from "../../model/base/bounded-map.ts";
import type { LonghaulModelOptions } from "./longhaul-model-options.ts";
import { isLonghaulModel, withLonghaul } from "./with-longhaul.ts";

/**
 * A `prepareStep` for agents, or for `generateText` and `streamText` with tools, that runs every step in the session.
 * The step's messages stay the caller's; its model is wrapped with `withLonghaul`, so that messages are stored and
 * fitted, refused windows healed, and replies stored. A model that is already wrapped stays unchanged.
 */
export function prepareStep(
  options: LonghaulModelOptions,
): (step: { readonly model: LanguageModel }) => { readonly model: LanguageModel } {
  // Agents switch between a few models; an agent that creates a new one for every step must not leak memory.
  const wrapped = new BoundedMap<LanguageModel, LanguageModel>({ max: MAX_MODELS });
  return ({ model }) => {
    if (isLonghaulModel(model)) return { model };
    const known = wrapped.get(model) ?? withLonghaul(model, options);
    wrapped.set(model, known);
    return { model: known };
  };
}

const MAX_MODELS = 16;
