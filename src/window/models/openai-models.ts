import type { ModelFacts, Prices } from "./model-data.ts";

// Facts are from developers.openai.com/api/docs (models, pricing) and the MIT packages @pydantic/genai-prices 0.1.8 and
// @earendil-works/pi-ai 1.5.0, November 2026.

/** For models with the larger window, longer prompts cost twice as much for input and 1.5 times as much for output. */
const LONG_PROMPT = 272_000;

/** OpenAI's models by id prefix. */
export const OPENAI_MODELS: Readonly<Record<string, ModelFacts>> = {
  "gpt-6.1-sol": buildLongModel(1_050_000, 128_000, prices(2, 10, 0.1, 1.25)),
  "gpt-6.1-terra": buildLongModel(1_050_000, 128_000, prices(1, 5, 0.05, 1.25)),
  "gpt-6-astra": buildLongModel(1_050_000, 128_000, prices(10, 50, 1, 1.25)),
  "gpt-6-sol": buildLongModel(1_050_000, 128_000, prices(2, 10, 0.2, 1.25)),
  "gpt-6-luna": buildLongModel(1_050_000, 128_000, prices(0.1, 0.5, 0.01, 1.25)),
  "gpt-5.6": buildLongModel(1_050_000, 128_000, prices(4, 20, 0.4, 1.25)),
  "gpt-5.6-terra": buildLongModel(1_050_000, 128_000, prices(2, 12, 0.2, 1.25)),
  "gpt-5.6-luna": buildLongModel(1_050_000, 128_000, prices(0.2, 1.2, 0.02, 1.25)),
  "gpt-5.5": buildLongModel(1_000_000, 128_000, prices(5, 30, 0.5)),
  "gpt-5.5-pro": buildLongModel(1_000_000, 128_000, prices(30, 180, 30)),
  "gpt-5.4": buildLongModel(1_050_000, 128_000, prices(2.5, 15, 0.25)),
  "gpt-5.4-pro": buildLongModel(1_050_000, 128_000, prices(30, 180, 30)),
  "gpt-5.4-mini": { window: 400_000, maxOutput: 128_000, prices: prices(0.75, 4.5, 0.075) },
  "gpt-5.4-nano": { window: 400_000, maxOutput: 128_000, prices: prices(0.2, 1.25, 0.02) },
  "gpt-5.3-codex": { window: 400_000, maxOutput: 128_000, prices: prices(1.75, 14, 0.175) },
  "gpt-5.3-codex-spark": { window: 128_000, maxOutput: 32_000, prices: prices(1.75, 14, 0.175) },
  "gpt-5.3-chat": { window: 128_000, maxOutput: 16_384, prices: prices(1.75, 14, 0.175) },
  "gpt-5.2": { window: 400_000, maxOutput: 128_000, prices: prices(1.75, 14, 0.175) },
  "gpt-5.2-chat": { window: 128_000, maxOutput: 16_384, prices: prices(1.75, 14, 0.175) },
  "gpt-5.2-pro": { window: 400_000, maxOutput: 128_000, prices: prices(21, 168, 21) },
  "gpt-5.1": { window: 400_000, maxOutput: 128_000, prices: prices(1.25, 10, 0.125) },
  "gpt-5.1-chat": { window: 128_000, maxOutput: 16_384, prices: prices(1.25, 10, 0.125) },
  "gpt-5.1-codex-mini": { window: 400_000, maxOutput: 128_000, prices: prices(0.25, 2, 0.025) },
  "gpt-5": { window: 400_000, maxOutput: 128_000, prices: prices(1.25, 10, 0.125) },
  "gpt-5-chat": { window: 128_000, maxOutput: 16_384, prices: prices(1.25, 10, 0.125) },
  "gpt-5-mini": { window: 400_000, maxOutput: 128_000, prices: prices(0.25, 2, 0.025) },
  "gpt-5-nano": { window: 400_000, maxOutput: 128_000, prices: prices(0.05, 0.4, 0.005) },
  "gpt-5-pro": { window: 400_000, maxOutput: 128_000, prices: prices(15, 120, 15) },
  "gpt-4.1": { window: 1_047_576, maxOutput: 32_768, prices: prices(2, 8, 0.5) },
  "gpt-4.1-mini": { window: 1_047_576, maxOutput: 32_768, prices: prices(0.4, 1.6, 0.1) },
  "gpt-4.1-nano": { window: 1_047_576, maxOutput: 32_768, prices: prices(0.1, 0.4, 0.025) },
  "gpt-4o": { window: 128_000, maxOutput: 16_384, prices: prices(2.5, 10, 1.25) },
  "gpt-4o-mini": { window: 128_000, maxOutput: 16_384, prices: prices(0.15, 0.6, 0.075) },
  "o4-mini": { window: 200_000, maxOutput: 100_000, prices: prices(1.1, 4.4, 0.275) },
  o3: { window: 200_000, maxOutput: 100_000, prices: prices(2, 8, 0.5) },
  "o3-mini": { window: 200_000, maxOutput: 100_000, prices: prices(1.1, 4.4, 0.55) },
  "o3-pro": { window: 200_000, maxOutput: 100_000, prices: prices(20, 80, 20) },
  o1: { window: 200_000, maxOutput: 100_000, prices: prices(15, 60, 7.5) },
  "o1-pro": { window: 200_000, maxOutput: 100_000, prices: prices(150, 600, 150) },
};

/** Models before GPT-5.6 charge no surcharge for cache writes. */
function prices(input: number, output: number, cacheRead: number, writeFactor = 1): Prices {
  const cacheWrite = input * writeFactor;
  return { input, output, cacheRead, cacheWrite, cacheWriteHour: cacheWrite };
}

function buildLongModel(window: number, maxOutput: number, base: Prices): ModelFacts {
  return { window, maxOutput, prices: base, longPrompt: { above: LONG_PROMPT, prices: raisePrices(base) } };
}

function raisePrices({ input, output, cacheRead, cacheWrite, cacheWriteHour }: Prices): Prices {
  return {
    input: input * 2,
    output: output * 1.5,
    cacheRead: cacheRead * 2,
    cacheWrite: cacheWrite * 2,
    cacheWriteHour: cacheWriteHour * 2,
  };
}
