import type { ModelFacts, Prices } from "./model-data.ts";

// Facts are from the MIT packages @pydantic/genai-prices 0.1.8 and @earendil-works/pi-ai 1.5.0, November 2026.

const WINDOW = 1_048_576;
const LONG_PROMPT = 200_000;

/** Google's models by id prefix. */
export const GOOGLE_MODELS: Readonly<Record<string, ModelFacts>> = {
  "gemini-4-argon": gemini(32_768, prices(2, 10, 0.1)),
  "gemini-3.8-flash": gemini(65_536, prices(0.75, 3.75, 0.075)),
  "gemini-3.7-flash": gemini(65_536, prices(0.75, 3.75, 0.075)),
  "gemini-3.6-flash": gemini(65_536, prices(0.75, 3.75, 0.075)),
  "gemini-3.5-flash": gemini(65_536, prices(1.5, 9, 0.15)),
  "gemini-3.5-flash-lite": gemini(65_536, prices(0.3, 2.5, 0.03)),
  "gemini-3.1-pro": gemini(65_536, prices(2, 12, 0.2), prices(4, 18, 0.4)),
  "gemini-3.1-flash-lite": gemini(65_536, prices(0.25, 1.5, 0.025)),
  "gemini-3-pro": gemini(65_536, prices(2, 12, 0.2), prices(4, 18, 0.4)),
  "gemini-3-flash": gemini(65_536, prices(0.5, 3, 0.05)),
  "gemini-2.5-pro": gemini(65_536, prices(1.25, 10, 0.125), prices(2.5, 15, 0.25)),
  "gemini-2.5-flash": gemini(65_536, prices(0.3, 2.5, 0.03)),
  "gemini-2.5-flash-lite": gemini(65_536, prices(0.1, 0.4, 0.01)),
  "gemini-2.0-flash": gemini(8_192, prices(0.1, 0.4, 0.025)),
};

function gemini(maxOutput: number, base: Prices, long?: Prices): ModelFacts {
  const facts = { window: WINDOW, maxOutput, prices: base };
  return long ? { ...facts, longPrompt: { above: LONG_PROMPT, prices: long } } : facts;
}

/** Writing to the implicit cache costs the input price. */
function prices(input: number, output: number, cacheRead: number): Prices {
  return { input, output, cacheRead, cacheWrite: input, cacheWriteHour: input };
}
