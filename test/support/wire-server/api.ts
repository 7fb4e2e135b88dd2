import type { ErrorKind, Reply } from "./behaviour.ts";

/** A request as far as the forms of answers depend on it. */
export interface WireRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** One server-sent event. */
export interface WireEvent {
  readonly event?: string;
  /** A string is sent as it is. */
  readonly data: unknown;
}

/** An error as it goes over the wire. */
export interface WireError {
  readonly status: number;
  readonly body: unknown;
}

/** How one API of a provider speaks. */
export interface WireApi {
  readonly name: string;
  matches(path: string): boolean;
  isStreaming(request: WireRequest): boolean;
  /** The answer in one piece. */
  body(reply: Reply, request: WireRequest): unknown;
  /** The answer as a stream. */
  events(reply: Reply, request: WireRequest): readonly WireEvent[];
  error(kind: ErrorKind): WireError;
  /** The same inside a stream that has begun. */
  errorEvent(kind: ErrorKind): WireEvent;
}

/** The model of an answer. */
export function modelOf(reply: Reply, request: WireRequest): string {
  return reply.model ?? String(request.body.model ?? "unnamed");
}

/** A text in the pieces it is streamed in: its words. */
export function pieces(text: string): readonly string[] {
  return text.split(/(?<=\s)/).filter((piece) => piece !== "");
}

/** How an answer ends. */
export function finishOf(reply: Reply): NonNullable<Reply["finish"]> {
  return reply.finish ?? (reply.toolCalls?.length ? "tool-calls" : "stop");
}
