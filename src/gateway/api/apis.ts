import { anthropic } from "./anthropic.ts";
import type { Api, ApiName } from "./api.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";

/** The APIs that the gateway speaks. */
export const APIS: readonly Api[] = [anthropic, openaiChat, openaiResponses];

const byName: Readonly<Record<ApiName, Api>> = {
  anthropic,
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
};

/** The API of a name. */
export function apiOf(name: ApiName): Api {
  return byName[name];
}
