import { FEATURE_MASK, FEATURE_SHIFT, STATE_SHIFT, STEPS, UNIT_CLASSES } from "./feature-steps.ts";

/** Counts the features of a text, in the order of the weights. */
export function countFeatures(text: string): Uint32Array {
  const counts = new Uint32Array(FEATURE_MASK + 1);
  let state = 0;
  let before = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const same = unit === before ? 1 : 0;
    const step = STEPS[state | (UNIT_CLASSES[unit] as number) | same] as number;
    const feature = (step >>> FEATURE_SHIFT) & FEATURE_MASK;
    counts[feature] = (counts[feature] as number) + 1;
    state = step >>> STATE_SHIFT;
    before = unit;
  }
  return counts;
}
