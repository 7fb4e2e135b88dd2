import type { WireName } from "../../../wire/wire.ts";
import { anthropicRounds } from "./anthropic-rounds.ts";
import { chatRounds } from "./chat-rounds.ts";
import { responsesRounds } from "./responses-rounds.ts";
import type { RoundFormat } from "./round-format.ts";

/** The round format of each API. */
export const ROUND_FORMATS: Readonly<Record<WireName, RoundFormat>> = {
  anthropic: anthropicRounds,
  "openai-chat": chatRounds,
  "openai-responses": responsesRounds,
};
