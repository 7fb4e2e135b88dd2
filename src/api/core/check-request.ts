import type { z } from "zod";
import { ApiError } from "./api-error.ts";
import type { RouteHead } from "./route.ts";

/** The parts of a request before they are checked. */
interface RawRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Uint8Array;
}

/** The parts of a request after they were checked. */
interface CheckedRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

const MAX_ISSUES = 5;

/** Checks a request against the schemas of its route; throws REQUEST_INVALID with every problem. */
export function checkRequest(route: RouteHead, { params, query, body }: RawRequest): CheckedRequest {
  return {
    params: route.params ? check(route.params, params, "path") : {},
    query: check(route.query, toFields(query), "query"),
    body: route.body ? check(route.body, parseBody(body), "body") : undefined,
  };
}

function toFields(query: URLSearchParams): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = {};
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    fields[name] = values.length === 1 ? (values[0] as string) : values;
  }
  return fields;
}

/** An absent body counts as an empty object. */
function parseBody(body: Uint8Array): unknown {
  if (body.length === 0) return {};
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ApiError("REQUEST_INVALID", `The body is not JSON in UTF-8: ${reason.slice(0, 200)}.`);
  }
}

function check(schema: z.ZodType | undefined, value: unknown, place: string): unknown {
  if (!schema) {
    const [unknown] = Object.keys(value as object);
    if (unknown === undefined) return {};
    throw new ApiError(
      "REQUEST_INVALID",
      `${place}: unknown argument ${JSON.stringify(unknown.slice(0, 80))}.`,
    );
  }
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const problems = checked.error.issues.slice(0, MAX_ISSUES).map(({ path, message }) => {
    const name = path.map(String).join(".");
    return name === "" ? message : `${name}: ${message}`;
  });
  const more = checked.error.issues.length > MAX_ISSUES ? "; …" : "";
  throw new ApiError("REQUEST_INVALID", `${place}: ${problems.join("; ")}${more}.`, { details: { place } });
}
