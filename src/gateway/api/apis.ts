import { anthropic } from "./anthropic.ts";
import type { Api, ApiName } from "./api.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";

/** All supported APIs. */
export const APIS: readonly Api[] = [anthropic, openaiChat, openaiResponses];

const byName: Readonly<Record<ApiName, Api>> = {
  anthropic,
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
};

export function apiOf(name: ApiName): Api {
  return byName[name];
}
