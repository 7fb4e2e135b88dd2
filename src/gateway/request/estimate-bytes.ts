import { estimateText } from "../../window-entry.ts";

/** Texts up to this size are counted whole. */
const WHOLE_BYTES = 1_024 * 1_024;
const SAMPLES = 16;
const SAMPLE_BYTES = 32 * 1_024;

/** Estimates the tokens of UTF-8 text; long text is sampled. */
export function estimateBytes(bytes: Buffer): number {
  if (bytes.length <= WHOLE_BYTES) return estimateText(bytes.toString("utf8"));
  let tokens = 0;
  for (let sample = 0; sample < SAMPLES; sample++) {
    const from = Math.floor(((bytes.length - SAMPLE_BYTES) * sample) / (SAMPLES - 1));
    tokens += estimateText(bytes.toString("utf8", from, from + SAMPLE_BYTES));
  }
  return Math.round((tokens * bytes.length) / (SAMPLES * SAMPLE_BYTES));
}
