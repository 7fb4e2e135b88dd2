import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { AddressForm } from "./base-url.ts";

/** Settings with which a vendor's package creates a model. */
export interface Connection {
  /** Prefix of the model id, such as `ollama`. */
  readonly name: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** True if `apiKey` goes into the `authorization` header of a vendor that has another header for keys. */
  readonly isBearer: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** A service or program that serves models. */
export interface Vendor {
  /** npm package for this vendor. */
  readonly package: string;
  /** Environment variables for the key; the first one set wins. */
  readonly keyVariables: readonly string[];
  /** Environment variables for a token to send in the `authorization` header instead. */
  readonly tokenVariables?: readonly string[];
  readonly needsKey: boolean;
  /** Environment variables for the address; the first one set wins. */
  readonly baseUrlVariables: readonly string[];
  /** Absent if there is no default address. */
  readonly baseUrl?: string;
  readonly address: AddressForm;
  connect(connection: Connection): Promise<LanguageModelV4>;
}
