import { createHash } from "node:crypto";

export type Fields = Readonly<Record<string, unknown>>;

/** A model request as a provider receives it. */
export interface ModelRequest {
  readonly path: string;
  readonly body: Fields;
  /** The value of a header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
}

/** An error response, and a short name of the broken rule for reports. */
export interface Refusal {
  readonly rule: string;
  readonly status: number;
  readonly body: object;
}

/** A piece of reasoning that came back and that the model does not see. */
export interface LostReasoning {
  readonly path: string;
  readonly reason: string;
  readonly seal: string;
}

/**
 * What a provider makes of the reasoning in a request. A seal is the opaque string by which a provider knows its own
 * reasoning again: a signature, encrypted content, or the text itself where an API has nothing else.
 */
export interface Judgement {
  readonly refusal?: Refusal;
  /** Seals of all reasoning in the request, in order. */
  readonly sent: readonly string[];
  /** Seals of the reasoning that the model sees. */
  readonly alive: readonly string[];
  readonly lost: readonly LostReasoning[];
  /** Changes of the input that the reply has to report; undefined if the client did not ask for a report. */
  readonly transformations?: readonly object[];
}

/** A digest of several texts that no other list of texts has. */
export function digest(...texts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(`${text.length}:`).update(text);
  return hash.digest("base64url");
}

export function fieldsIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as readonly Fields[]) : [];
}

/** The serialized value without the cache markers in it: these may move between requests. */
export function withoutMarkers(value: unknown): string {
  return JSON.stringify(value, (key, inner) => (key === "cache_control" ? undefined : inner)) ?? "";
}
