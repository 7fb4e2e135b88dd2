import { SAMPLE_SESSION } from "../../src/server/api/sample/sample-session.ts";
import { ApiFailure, readFailure, toFailure } from "./api-failure.ts";
import type { ByteInput, ByteName, JsonInput, JsonName, Reply } from "./routes.ts";
import { isSignInNeeded, token } from "./token.ts";

const BASE = "/api/v1";
/** The bundled sample conversation has its own store, with the same routes. */
const SAMPLE_BASE = "/api/v1/sample";

interface RawInput {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The arguments after a route's name: its input may be left out if the route needs none. */
type Rest<Input> = object extends Input
  ? [input?: Input, options?: CallOptions]
  : [input: Input, options?: CallOptions];

/** Calls a route and returns its JSON reply; throws ApiFailure. */
export async function call<Name extends JsonName>(
  name: Name,
  ...[input, options]: Rest<JsonInput<Name>>
): Promise<Reply<Name>> {
  const response = await send(name, input as RawInput, options);
  return (await response.json()) as Reply<Name>;
}

/** Calls a route that replies with bytes. */
export async function download<Name extends ByteName>(
  name: Name,
  ...[input, options]: Rest<ByteInput<Name>>
): Promise<Blob> {
  const response = await send(name, input as RawInput, options);
  return await response.blob();
}

/** Sends a request; throws ApiFailure unless it succeeds. A refused token leads to the sign-in. */
export async function send(
  name: string,
  { params = {}, query = {}, body }: RawInput = {},
  { signal, headers }: CallOptions = {},
): Promise<Response> {
  const [method = "GET", path = ""] = name.split(" ");
  const sent = token.peek();
  try {
    const base = isAboutSample({ params, body }) ? SAMPLE_BASE : BASE;
    const response = await fetch(base + fillPath(path, params) + buildQuery(query), {
      method,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      headers: {
        ...(sent && { "x-longhaul-token": sent }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    if (response.status === 401) isSignInNeeded.value = true;
    if (!response.ok) throw await readFailure(response);
    return response;
  } catch (error) {
    throw toFailure(error);
  }
}

function isAboutSample({ params = {}, body }: RawInput): boolean {
  const session = params.session ?? (body as { readonly session?: unknown } | undefined)?.session;
  return session === SAMPLE_SESSION || String(params.job).startsWith("sample-");
}

function fillPath(path: string, params: Readonly<Record<string, unknown>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined)
      throw new ApiFailure(0, {
        code: "ARGUMENT_INVALID",
        message: `The path ${path} needs ${name}.`,
        remedy: "Pass it in params.",
      });
    return encodeURIComponent(String(value));
  });
}

function buildQuery(query: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
}
