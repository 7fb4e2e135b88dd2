import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { AddressForm } from "./base-url.ts";

/** What a vendor's package needs to make a model. */
export interface Connection {
  /** Prefix of the id, as `ollama`. */
  readonly name: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** Set when `apiKey` goes into an `authorization` header where the vendor has another for keys. */
  readonly isBearer: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** A service or program that serves models. */
export interface Vendor {
  /** The package that speaks to it. */
  readonly package: string;
  /** Variables that may hold the key, the first that is set decides. */
  readonly keyVariables: readonly string[];
  /** Variables that may hold a token for an `authorization` header instead. */
  readonly tokenVariables?: readonly string[];
  readonly needsKey: boolean;
  /** Variables that may hold the address, the first that is set decides. */
  readonly baseUrlVariables: readonly string[];
  /** Absent when there is no usual address. */
  readonly baseUrl?: string;
  readonly address: AddressForm;
  connect(connection: Connection): Promise<LanguageModelV4>;
}
