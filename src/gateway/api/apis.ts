import { anthropicApi } from "./anthropic-api.ts";
import type { Api, ApiName } from "./api.ts";
import { openaiChatApi } from "./openai-chat-api.ts";
import { openaiResponsesApi } from "./openai-responses-api.ts";

/** All supported APIs. */
export const APIS: readonly Api[] = [anthropicApi, openaiChatApi, openaiResponsesApi];

const API_BY_NAME: Readonly<Record<ApiName, Api>> = {
  anthropic: anthropicApi,
  "openai-chat": openaiChatApi,
  "openai-responses": openaiResponsesApi,
};

export function getApi(name: ApiName): Api {
  return API_BY_NAME[name];
}
