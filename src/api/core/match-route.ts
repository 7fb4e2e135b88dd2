import { ApiError } from "./api-error.ts";
import type { ApiRoute } from "./route.ts";

/** A route and the decoded parameters of the path. */
interface MatchedRoute {
  readonly route: ApiRoute;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds the route of a path after /api/v1; throws ROUTE_NOT_FOUND or METHOD_NOT_ALLOWED. HEAD counts as GET. */
export function matchRoute(routes: readonly ApiRoute[], method: string, path: string): MatchedRoute {
  const segments = path.split("/").map(decodeSegment);
  const found = routes.flatMap((route) => {
    const params = matchPath(route.path, segments);
    return params ? [{ route, params }] : [];
  });
  const wanted = method === "HEAD" ? "GET" : method;
  const matched = found.find(({ route }) => route.method === wanted);
  if (matched) return matched;
  const shown = JSON.stringify(`/api/v1${path}`.slice(0, 200));
  if (found.length === 0) throw new ApiError("ROUTE_NOT_FOUND", `There is nothing at ${shown}.`);
  const methods = [...new Set(found.map(({ route }) => route.method))];
  const allow = (methods.includes("GET") ? ["HEAD", ...methods] : methods).join(", ");
  throw new ApiError("METHOD_NOT_ALLOWED", `${shown} supports ${allow}, not ${method}.`, {
    headers: { allow },
  });
}

function matchPath(
  pattern: string,
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const expected = pattern.split("/");
  if (expected.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of expected.entries()) {
    const segment = segments[index] as string;
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined ? part !== segment : segment === "") return undefined;
    if (name !== undefined) params[name] = segment;
  }
  return params;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new ApiError(
      "REQUEST_INVALID",
      `${JSON.stringify(segment.slice(0, 80))} is not a valid URL encoding.`,
    );
  }
}
