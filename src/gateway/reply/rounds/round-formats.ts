import type { ApiName } from "../../api/api.ts";
import { anthropicRounds } from "./anthropic-rounds.ts";
import { chatRounds } from "./chat-rounds.ts";
import { responsesRounds } from "./responses-rounds.ts";
import type { RoundFormat } from "./round-format.ts";

/** The round format of each API. */
export const ROUND_FORMATS: Readonly<Record<ApiName, RoundFormat>> = {
  anthropic: anthropicRounds,
  "openai-chat": chatRounds,
  "openai-responses": responsesRounds,
};
