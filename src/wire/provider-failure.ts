/** An error reply of a provider, or a reply that stopped early. */
export interface ProviderFailure {
  readonly status?: number;
  /** The response body, parsed or as text. */
  readonly body?: unknown;
  /** The message of the error thrown by the client library. */
  readonly message?: string;
}
