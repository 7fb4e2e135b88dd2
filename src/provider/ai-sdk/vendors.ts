import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Connection, Vendor } from "./vendor.ts";

const anthropic: Vendor = {
  package: "@ai-sdk/anthropic",
  keyVariables: ["ANTHROPIC_API_KEY"],
  tokenVariables: ["ANTHROPIC_AUTH_TOKEN"],
  needsKey: true,
  baseUrlVariables: ["ANTHROPIC_BASE_URL"],
  baseUrl: "https://api.anthropic.com/v1",
  address: { versionPath: "/v1" },
  async connect({ model, baseUrl, apiKey = "", isBearer, headers }) {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    const credential = isBearer ? { authToken: apiKey } : { apiKey };
    return createAnthropic({ baseURL: baseUrl, ...credential, headers: { ...headers } })(model);
  },
};

const openai: Vendor = {
  package: "@ai-sdk/openai",
  keyVariables: ["OPENAI_API_KEY"],
  needsKey: true,
  baseUrlVariables: ["OPENAI_BASE_URL"],
  baseUrl: "https://api.openai.com/v1",
  address: { versionPath: "/v1" },
  connect: async (connection) => (await createOpenaiClient(connection)).responses(connection.model),
};

const openaiChat: Vendor = {
  ...openai,
  connect: async (connection) => (await createOpenaiClient(connection)).chat(connection.model),
};

async function createOpenaiClient({ baseUrl, apiKey = "", headers }: Connection) {
  const { createOpenAI } = await import("@ai-sdk/openai");
  return createOpenAI({ baseURL: baseUrl, apiKey, headers: { ...headers } });
}

const google: Vendor = {
  package: "@ai-sdk/google",
  keyVariables: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
  needsKey: true,
  baseUrlVariables: ["GOOGLE_GENERATIVE_AI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"],
  baseUrl: "https://generativelanguage.googleapis.com/v1beta",
  address: { versionPath: "/v1beta" },
  async connect({ model, baseUrl, apiKey = "", headers }) {
    const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
    return createGoogleGenerativeAI({ baseURL: baseUrl, apiKey, headers: { ...headers } })(model);
  },
};

/** A server with an OpenAI Chat Completions API. */
function createCompatibleVendor(
  keyVariables: readonly string[],
  baseUrlVariables: readonly string[],
  port?: number,
): Vendor {
  return {
    package: "@ai-sdk/openai-compatible",
    keyVariables,
    needsKey: false,
    baseUrlVariables,
    ...(port !== undefined && { baseUrl: `http://127.0.0.1:${port}/v1` }),
    address: { versionPath: "/v1", ...(port !== undefined && { defaultPort: port }) },
    connect: connectCompatible,
  };
}

async function connectCompatible(connection: Connection): Promise<LanguageModelV4> {
  const { name, model, baseUrl, apiKey, headers } = connection;
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const settings = { name, baseURL: baseUrl, headers: { ...headers }, includeUsage: true };
  return createOpenAICompatible(apiKey === undefined ? settings : { ...settings, apiKey })(model);
}

/** The vendor for servers that only the configuration names. */
export const openaiCompatible: Vendor = createCompatibleVendor(
  ["OPENAI_COMPATIBLE_API_KEY"],
  ["OPENAI_COMPATIBLE_BASE_URL"],
);

/** All vendors by the first segment of a model id. */
export const vendors: ReadonlyMap<string, Vendor> = new Map([
  ["anthropic", anthropic],
  ["openai", openai],
  ["openai-chat", openaiChat],
  ["google", google],
  ["ollama", createCompatibleVendor(["OLLAMA_API_KEY"], ["OLLAMA_BASE_URL", "OLLAMA_HOST"], 11434)],
  ["llamacpp", createCompatibleVendor(["LLAMACPP_API_KEY", "LLAMA_API_KEY"], ["LLAMACPP_BASE_URL"], 8080)],
  ["vllm", createCompatibleVendor(["VLLM_API_KEY"], ["VLLM_BASE_URL"], 8000)],
  ["lmstudio", createCompatibleVendor(["LMSTUDIO_API_KEY", "LM_API_TOKEN"], ["LMSTUDIO_BASE_URL"], 1234)],
  ["openai-compatible", openaiCompatible],
]);
