import type { z } from "zod";
import type {
  ByteRoute as AnyByteRoute,
  JsonRoute as AnyJsonRoute,
  StreamRoute as AnyStreamRoute,
} from "../../src/server/api/core/route.ts";
import type { API_ROUTES } from "../../src/server/api/routes.ts";

/** All routes of /api/v1, as types only: the schemas of the server stay on the server. */
type Route = (typeof API_ROUTES)[number];
type JsonRoute = Extract<Route, AnyJsonRoute>;
type StreamRoute = Extract<Route, AnyStreamRoute>;
type ByteRoute = Extract<Route, AnyByteRoute>;

type NameOf<One extends Route> = One extends Route ? `${One["method"]} ${One["path"]}` : never;
/** Each kind of route by its name; a search through the union for each call would be too deep for the compiler. */
type ByName<All extends Route> = { [One in All as NameOf<One>]: One };
type JsonRoutes = ByName<JsonRoute>;
type StreamRoutes = ByName<StreamRoute>;
type ByteRoutes = ByName<ByteRoute>;

/** Routes by method and path, such as "GET /sessions/{session}". */
export type JsonName = NameOf<JsonRoute>;
export type StreamName = NameOf<StreamRoute>;
export type ByteName = NameOf<ByteRoute>;

type Field<One, Key extends string> = One extends { readonly [K in Key]: infer Schema extends z.ZodType }
  ? Schema
  : undefined;
type ParamsOf<One> =
  Field<One, "params"> extends z.ZodType ? { params: z.output<Field<One, "params">> } : object;
type QueryOf<One> =
  Field<One, "query"> extends z.ZodType ? { query?: Partial<z.output<Field<One, "query">>> } : object;
type BodyOf<One> = Field<One, "body"> extends z.ZodType ? { body: z.input<Field<One, "body">> } : object;

type InputOf<One> = ParamsOf<One> & QueryOf<One> & BodyOf<One>;

/** The input of a route: its parameters, query and body. */
export type JsonInput<Name extends JsonName> = InputOf<JsonRoutes[Name]>;
export type StreamInput<Name extends StreamName> = InputOf<StreamRoutes[Name]>;
export type ByteInput<Name extends ByteName> = InputOf<ByteRoutes[Name]>;

/** The reply of a route. */
export type Reply<Name extends JsonName> = JsonRoutes[Name] extends {
  readonly reply: infer Schema extends z.ZodType;
}
  ? z.output<Schema>
  : never;

type EventsOf<Name extends StreamName> = StreamRoutes[Name] extends { readonly events: infer Events }
  ? Events
  : never;

/** An event of a stream, by its name. */
export type StreamEvent<Name extends StreamName> = {
  [Event in keyof EventsOf<Name> & string]: {
    readonly event: Event;
    readonly id: string | undefined;
    readonly data: EventsOf<Name>[Event] extends z.ZodType ? z.output<EventsOf<Name>[Event]> : never;
  };
}[keyof EventsOf<Name> & string];
