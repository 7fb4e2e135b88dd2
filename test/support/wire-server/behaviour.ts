/** Tokens of a scripted answer; no two counts overlap, except that reasoning is part of output. */
export interface WireUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** The part of `cacheWrite` that is kept for an hour. */
  readonly cacheWriteHour?: number;
  readonly reasoning?: number;
}

/** A tool call of a scripted answer. */
export interface WireToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** What a model is to answer, in no API's words. */
export interface Reply {
  readonly text?: string;
  readonly reasoning?: string;
  readonly toolCalls?: readonly WireToolCall[];
  readonly usage?: WireUsage;
  /** "stop", or "tool-calls" where there are any, when absent. */
  readonly finish?: "stop" | "length" | "tool-calls" | "refusal";
  /** The model of the request when absent. */
  readonly model?: string;
  /** Vectors, for embeddings. */
  readonly embeddings?: readonly (readonly number[])[];
}

/** An error that a provider really sends; each API has its own form and wording for it. */
export type ErrorKind =
  | "bad-request"
  | "unauthorized"
  | "rate-limit"
  | "server-error"
  | "overloaded"
  | "overflow"
  | "empty-account";

/** What the server does with one request. */
export type Behaviour =
  | { readonly type: "reply"; readonly reply: Reply }
  /** An error instead of an answer; `body` replaces the form of the API. */
  | {
      readonly type: "error";
      readonly kind: ErrorKind;
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** Takes the request and never says a word. */
  | { readonly type: "stall" }
  /** Sends so many events of the answer and falls silent. */
  | { readonly type: "stall-midway"; readonly reply: Reply; readonly afterEvents: number }
  /** Sends so many events and drops the connection, or ends the response as if that were all. */
  | {
      readonly type: "cut";
      readonly reply: Reply;
      readonly afterEvents: number;
      readonly isOrderly?: boolean;
    }
  /** Sends so many events and then an error inside the stream. */
  | {
      readonly type: "error-midway";
      readonly reply: Reply;
      readonly afterEvents: number;
      readonly kind: ErrorKind;
    }
  /** Answers 200 with something that is no answer. */
  | { readonly type: "rubbish"; readonly text?: string };
