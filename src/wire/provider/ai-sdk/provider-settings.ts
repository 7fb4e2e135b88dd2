/** Connection settings of a provider; absent fields come from the environment. */
export interface ProviderSettings {
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sources of keys and addresses. */
export interface Configuration {
  /** By the first segment of the model id. A custom name denotes a server with an OpenAI Chat Completions API. */
  readonly providers?: Readonly<Record<string, ProviderSettings>>;
  /** Defaults to `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}
