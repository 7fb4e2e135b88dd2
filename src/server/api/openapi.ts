import { z } from "zod";
import { API_ERRORS } from "./core/api-error.ts";
import { KERNEL_ERRORS } from "./core/kernel-error-rules.ts";
import { schemaNotes } from "./core/named-schema.ts";
import type { ApiRoute, RouteHead } from "./core/route.ts";
import { errorSchema } from "./schemas/common-schemas.ts";

type JsonObject = { [key: string]: unknown };

const BASE = "/api/v1";

/** Builds the OpenAPI document of the routes. Schemas with a name are listed once, under components. */
export function buildOpenApi(routes: readonly ApiRoute[], version: string): JsonObject {
  const components = new Components();
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = `${BASE}${route.path}`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route, components) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "longhaul",
      version,
      description:
        "Conversations, windows, memories and tasks of a longhaul gateway. With a token, a person sees only own conversations. Times are milliseconds since 1970. Ids in paths are percent-encoded.",
    },
    servers: [{ url: "/" }],
    security: [{}, { bearer: [] }, { apiKey: [] }],
    paths,
    components: {
      schemas: components.list(),
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        apiKey: { type: "apiKey", in: "header", name: "x-longhaul-token" },
      },
    },
  };
}

function describeRoute(route: ApiRoute, components: Components): JsonObject {
  const { id, tag, summary, description, status = 200 } = route;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...((route.params || route.query || route.kind === "stream") && {
      parameters: [
        ...describeParameters(route.params, "path", components),
        ...describeParameters(route.query, "query", components),
        ...(route.kind === "stream" ? [LAST_EVENT] : []),
      ],
    }),
    ...(route.body && {
      requestBody: {
        required: !route.body.safeParse({}).success,
        content: { "application/json": { schema: components.convert(route.body, "input") } },
      },
    }),
    responses: {
      [status]: { description: "Success.", ...describeReply(route, components) },
      ...describeErrors(route, components),
    },
  };
}

const LAST_EVENT = {
  name: "Last-Event-ID",
  in: "header",
  required: false,
  description: "The id of the last event that the client has received.",
  schema: { type: "string" },
};

function describeReply(route: ApiRoute, components: Components): JsonObject {
  if (route.kind === "json")
    return { content: { "application/json": { schema: components.convert(route.reply, "output") } } };
  if (route.kind === "bytes")
    return {
      content: { "*/*": { schema: { type: "string", contentMediaType: "application/octet-stream" } } },
    };
  const events = Object.entries(route.events).map(([name, data]) => [
    name,
    components.convert(data, "output"),
  ]);
  return {
    content: { "text/event-stream": { schema: { type: "string" }, "x-events": Object.fromEntries(events) } },
  };
}

/** Errors by status; the description lists their codes. Errors that every route may have are listed with each. */
function describeErrors({ errors = [] }: RouteHead, components: Components): JsonObject {
  const rules = { ...KERNEL_ERRORS, ...API_ERRORS };
  const codes = [...new Set(["REQUEST_INVALID", "UNAUTHORIZED", ...errors, "UNEXPECTED", "STORE_BUSY"])];
  const byStatus = Map.groupBy(codes, (code) => rules[code as keyof typeof rules].status);
  const schema = components.convert(errorSchema, "output");
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      { description: names.join(", "), content: { "application/json": { schema } } },
    ]),
  );
}

function describeParameters(
  schema: z.ZodObject | undefined,
  place: "path" | "query",
  components: Components,
): readonly JsonObject[] {
  return Object.entries(schema?.shape ?? {}).map(([name, field]) => {
    const type = field as z.ZodType;
    const { description, ...own } = components.convert(type, "output");
    return {
      name,
      in: place,
      required: place === "path" || !type.safeParse(undefined).success,
      description,
      ...(own.type === "array" && { style: "form", explode: false }),
      schema: own,
    };
  });
}

/** Converts schemas and collects the named ones. */
class Components {
  readonly #schemas = new Map<string, JsonObject>();

  convert(schema: z.ZodType, io: "input" | "output"): JsonObject {
    const converted = z.toJSONSchema(schema, {
      target: "draft-2020-12",
      metadata: schemaNotes,
      io,
      unrepresentable: "any",
    }) as JsonObject;
    const {
      $defs = {},
      $schema: _,
      ...own
    } = converted as { $defs?: Record<string, JsonObject> } & JsonObject;
    const names = new Map(Object.keys($defs).map((name) => [name, io === "input" ? `${name}Input` : name]));
    const id = schemaNotes.get(schema)?.id;
    const clean = (value: unknown) => cleanSchema(value, names, io) as JsonObject;
    for (const [name, definition] of Object.entries($defs))
      this.#schemas.set(names.get(name) as string, clean(definition));
    // A schema with a name is either converted in place or is a reference already.
    if (id === undefined || own.$ref !== undefined) return clean(own);
    const name = io === "input" ? `${id}Input` : id;
    this.#schemas.set(name, clean(own));
    return { $ref: `#/components/schemas/${name}` };
  }

  list(): Record<string, JsonObject> {
    return Object.fromEntries([...this.#schemas].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}

/** Points references to the components. Objects of replies stay open: later versions may add fields. */
function cleanSchema(value: unknown, names: ReadonlyMap<string, string>, io: "input" | "output"): unknown {
  if (Array.isArray(value)) return value.map((one) => cleanSchema(one, names, io));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    if (key === "id" && typeof inner === "string") return [];
    if (key === "additionalProperties" && inner === false && io === "output") return [];
    if (Math.abs(Number(inner)) === Number.MAX_SAFE_INTEGER) return [];
    if (key === "$ref" && typeof inner === "string") {
      const name = inner.replace(/^#\/\$defs\//, "");
      return [[key, `#/components/schemas/${names.get(name) ?? name}`]];
    }
    return [[key, cleanSchema(inner, names, io)]];
  });
  return Object.fromEntries(entries);
}
