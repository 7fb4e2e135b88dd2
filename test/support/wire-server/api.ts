import type { ErrorKind, Reply } from "./behaviour.ts";

/** The parts of a request that responses depend on. */
export interface WireRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** One server-sent event. */
export interface WireEvent {
  readonly event?: string;
  /** A string is sent unchanged. */
  readonly data: unknown;
}

/** An error response. */
export interface WireError {
  readonly status: number;
  readonly body: unknown;
}

/** The provider side of one API. */
export interface WireApi {
  readonly name: string;
  matches(path: string): boolean;
  isStreaming(request: WireRequest): boolean;
  /** The complete response. */
  body(reply: Reply, request: WireRequest): unknown;
  /** The response as a stream. */
  events(reply: Reply, request: WireRequest): readonly WireEvent[];
  error(kind: ErrorKind): WireError;
  /** An error inside a stream that has begun. */
  errorEvent(kind: ErrorKind): WireEvent;
}

/** The model of a reply. */
export function modelOf(reply: Reply, request: WireRequest): string {
  return reply.model ?? String(request.body.model ?? "unnamed");
}

/** Splits a text into its streamed pieces: words. */
export function pieces(text: string): readonly string[] {
  return text.split(/(?<=\s)/).filter((piece) => piece !== "");
}

/** The finish reason of a reply. */
export function finishOf(reply: Reply): NonNullable<Reply["finish"]> {
  return reply.finish ?? (reply.toolCalls?.length ? "tool-calls" : "stop");
}
