import type { z } from "zod";
import type { ApiServices } from "../api-services.ts";
import type { ApiCaller } from "./api-caller.ts";
import type { ApiErrorCode } from "./api-error.ts";
import type { RouteWeight } from "./person-load.ts";
import type { ByteReply, StreamEvent } from "./send-reply.ts";

type ApiMethod = "GET" | "POST" | "PATCH" | "DELETE";

/** A value of any depth that a handler may return without copying it; fields that a schema leaves open may be any. */
type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T as string extends Key ? never : Key]: Frozen<T[Key]> }
    : T;

/** A checked request. */
export interface RouteCall<Params = unknown, Query = unknown, Body = unknown> {
  readonly services: ApiServices;
  readonly caller: ApiCaller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The position that a client of a stream has reached, from Last-Event-ID. */
  readonly lastEventId: string | undefined;
  /** Aborts when the client disconnects or the gateway closes. */
  readonly signal: AbortSignal;
}

/** The part of a route that the document describes. */
export interface RouteHead {
  readonly id: string;
  readonly method: ApiMethod;
  /** The path after /api/v1, with names of parameters in braces. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The status of a successful reply; default 200. */
  readonly status?: number;
  /** The load of a request; that of streams is known. */
  readonly weight?:
    | RouteWeight
    | ((request: { readonly query: unknown; readonly body: unknown }) => RouteWeight | undefined);
  /** Codes of the errors that are specific to this route. */
  readonly errors?: readonly (ApiErrorCode | string)[];
}

/** A route with a JSON reply. */
export interface JsonRoute extends RouteHead {
  readonly kind: "json";
  readonly reply: z.ZodType;
  handle(call: RouteCall): Promise<unknown>;
}

/** A route with a stream of events; `events` gives the data of each event by its name. */
export interface StreamRoute extends RouteHead {
  readonly kind: "stream";
  readonly events: Readonly<Record<string, z.ZodType>>;
  handle(call: RouteCall): Promise<AsyncIterable<StreamEvent>>;
}

/** A route with bytes. */
export interface ByteRoute extends RouteHead {
  readonly kind: "bytes";
  handle(call: RouteCall): Promise<ByteReply>;
}

export type ApiRoute = JsonRoute | StreamRoute | ByteRoute;

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : Readonly<Record<string, never>>;

type Call<Head extends RouteHead> = RouteCall<
  Output<Head["params"]>,
  Output<Head["query"]>,
  Output<Head["body"]>
>;

/** A route that keeps the types of its schemas, from which clients in this repository take theirs. */
type Kept<Head extends RouteHead, Kind> = Pick<Head, "id" | "method" | "path"> &
  Pick<Head, Extract<keyof Head, "params" | "query" | "body">> &
  Kind;

/** Defines a route with a JSON reply; the compiler checks the handler against the schemas. */
export function defineRoute<const Head extends RouteHead, Reply extends z.ZodType>(
  head: Head & { readonly reply: Reply },
  handle: (call: Call<Head>) => Promise<Frozen<z.input<Reply>>>,
): Kept<Head, JsonRoute & { readonly reply: Reply }> {
  return { ...head, kind: "json", handle: handle as JsonRoute["handle"] };
}

/** Defines a route with a stream of events. */
export function defineStream<const Head extends RouteHead, Events extends StreamRoute["events"]>(
  head: Head & { readonly events: Events },
  handle: (call: Call<Head>) => Promise<AsyncIterable<StreamEvent>>,
): Kept<Head, Omit<StreamRoute, "events"> & { readonly events: Events }> {
  return { ...head, kind: "stream", handle: handle as StreamRoute["handle"] };
}

/** Defines a route with bytes. */
export function defineDownload<const Head extends RouteHead>(
  head: Head,
  handle: (call: Call<Head>) => Promise<ByteReply>,
): Kept<Head, ByteRoute> {
  return { ...head, kind: "bytes", handle: handle as ByteRoute["handle"] };
}
