/** Tokens of a scripted reply; the counts do not overlap, except that reasoning is part of output. */
export interface WireUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** The part of `cacheWrite` with a lifetime of one hour. */
  readonly cacheWriteHour?: number;
  readonly reasoning?: number;
}

/** A tool call of a scripted reply. */
export interface WireToolCall {
  /** The group of the tool, where an API has groups. */
  readonly namespace?: string;
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** A model's reply in an API-independent form. */
export interface Reply {
  readonly text?: string;
  readonly reasoning?: string;
  /** The opaque string that seals the reasoning: a signature or encrypted content, whatever the API has. */
  readonly seal?: string;
  /** A summary that takes the place of the messages before it, in Anthropic's format. */
  readonly compaction?: { readonly content: string; readonly signature?: string };
  /** Changes that the provider made in the input, in Anthropic's format. */
  readonly inputTransformations?: readonly object[];
  readonly toolCalls?: readonly WireToolCall[];
  readonly usage?: WireUsage;
  /** Defaults to "tool-calls" if there are any, else "stop". */
  readonly finish?: "stop" | "length" | "tool-calls" | "refusal" | "compaction";
  /** Defaults to the model of the request. */
  readonly model?: string;
  /** Vectors, for embeddings. */
  readonly embeddings?: readonly (readonly number[])[];
  /** Id of the reply; the same for all replies by default. */
  readonly id?: string;
}

/** An error that providers really send; each API has its own format and wording for it. */
export type ErrorKind =
  | "bad-request"
  | "unauthorized"
  | "rate-limit"
  | "server-error"
  | "overloaded"
  | "overflow"
  | "empty-account";

/** Server behavior for one request. */
export type Behaviour =
  | { readonly type: "reply"; readonly reply: Reply }
  /** An error instead of a reply; `body` replaces the API's format. */
  | {
      readonly type: "error";
      readonly kind: ErrorKind;
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** Accepts the request and never responds. */
  | { readonly type: "stall" }
  /** Sends some events of the reply and then stalls. */
  | { readonly type: "stall-midway"; readonly reply: Reply; readonly afterEvents: number }
  /** Sends some events and drops the connection, or ends the response as if it were complete. */
  | {
      readonly type: "cut";
      readonly reply: Reply;
      readonly afterEvents: number;
      readonly isOrderly?: boolean;
    }
  /** Sends some events and then an error inside the stream. */
  | {
      readonly type: "error-midway";
      readonly reply: Reply;
      readonly afterEvents: number;
      readonly kind: ErrorKind;
    }
  /** Responds with status 200 and invalid content. */
  | { readonly type: "rubbish"; readonly text?: string };
