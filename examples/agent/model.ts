// Selects the model: the requested one, or the first that the environment has a key or an address for.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4 } from "@ai-sdk/provider";

interface Service {
  /** Any of these variables shows that the service is available. */
  readonly variables: readonly string[];
  readonly usual: string;
  make(name: string): LanguageModelV4;
}

const { env } = process;

function compatible(name: string, baseURL: string, apiKey: string | undefined) {
  const settings = { name, baseURL, includeUsage: true };
  return createOpenAICompatible(apiKey === undefined ? settings : { ...settings, apiKey });
}

const SERVICES: Readonly<Record<string, Service>> = {
  anthropic: {
    variables: ["ANTHROPIC_API_KEY"],
    usual: "claude-sonnet-4-5",
    make: (name) => createAnthropic()(name),
  },
  openai: { variables: ["OPENAI_API_KEY"], usual: "gpt-5-mini", make: (name) => createOpenAI()(name) },
  google: {
    variables: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
    usual: "gemini-2.5-flash",
    make: (name) =>
      createGoogle({ apiKey: env.GOOGLE_GENERATIVE_AI_API_KEY ?? env.GEMINI_API_KEY ?? "" })(name),
  },
  openrouter: {
    variables: ["OPENROUTER_API_KEY"],
    usual: "anthropic/claude-haiku-4.5",
    make: (name) => {
      const url = env.OPENROUTER_BASE_URL ?? "https://openrouter.ai/api/v1";
      return compatible("openrouter", url, env.OPENROUTER_API_KEY)(name);
    },
  },
  // Any server compatible with OpenAI's Chat Completions: llama.cpp, vLLM, LM Studio, a custom proxy.
  local: {
    variables: ["OPENAI_COMPATIBLE_BASE_URL"],
    usual: env.OPENAI_COMPATIBLE_MODEL ?? "default",
    make: (name) =>
      compatible(
        "local",
        env.OPENAI_COMPATIBLE_BASE_URL ?? "http://127.0.0.1:8080/v1",
        env.OPENAI_COMPATIBLE_API_KEY,
      )(name),
  },
  ollama: {
    variables: ["OLLAMA_MODEL", "OLLAMA_HOST"],
    usual: env.OLLAMA_MODEL ?? "qwen3:8b",
    make: (name) => compatible("ollama", `${ollamaAddress()}/v1`, undefined)(name),
  },
};

/** The model requested as `provider/name`, or the environment's; undefined if there is none. */
export function chosenModel(asked: string | undefined): LanguageModelV4 | undefined {
  if (asked === undefined) {
    const found = Object.values(SERVICES).find(({ variables }) => variables.some((name) => env[name]));
    return found?.make(found.usual);
  }
  const slash = asked.indexOf("/");
  const provider = slash < 0 ? asked : asked.slice(0, slash);
  const service = SERVICES[provider];
  if (!service)
    throw new Error(
      `--model ${asked}: there is no ${provider}; there are ${Object.keys(SERVICES).join(", ")}.`,
    );
  return service.make(slash < 0 ? service.usual : asked.slice(slash + 1));
}

function ollamaAddress(): string {
  const host = env.OLLAMA_HOST ?? "127.0.0.1:11434";
  return host.includes("://") ? host.replace(/\/+$/, "") : `http://${host}`;
}
