import type { ApiName } from "../../api/api.ts";
import { anthropicRounds } from "./anthropic.ts";
import { chatRounds } from "./chat.ts";
import type { RoundFormat } from "./joiner.ts";
import { responsesRounds } from "./responses.ts";

/** The round format of each API. */
export const ROUND_FORMATS: Readonly<Record<ApiName, RoundFormat>> = {
  anthropic: anthropicRounds,
  "openai-chat": chatRounds,
  "openai-responses": responsesRounds,
};
