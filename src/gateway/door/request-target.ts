import { type DoorRefusal, refuseRequest } from "./door-refusal.ts";

/** A request target, split as sent. */
export interface RequestTarget {
  /** Begins with "/" and has no empty, "." or ".." segments, except for a trailing slash. */
  readonly path: string;
  /** Includes the "?"; empty if there is none. */
  readonly query: string;
}

const MAX_CHARACTERS = 4_096;
/** Names under which clients put keys into URLs, where they end up in logs and histories. */
const TOKEN_NAMES =
  /^(?:(?:x-)?(?:api|longhaul|auth|access|bearer|secret)?[-_]?(?:key|token)|auth(?:orization)?|bearer|secret|passw(?:or)?d|pwd|credentials?|client[-_]?secret|(?:refresh|id|session)[-_]?token|jwt|sig(?:nature)?|x-amz-(?:signature|security-token))$/i;
/**
 * Pages of the gateway that name a session: ids contain slashes, and percent signs where a person's name is encoded. So do
 * Bedrock's names of models, which are refused by the name of their API.
 */
const NAMES_SESSION =
  /^\/(?:api\/(?:sessions|replay|v1\/(?:sessions|memories|tasks|jobs))|sessions|memory|tasks|model)\/[^/]/;
const TOKEN_VALUES = /^(?:sk-|rk-|bearer\s)/i;

/**
 * Splits a target in origin form; refuses all other forms and every path that another parser could read differently.
 */
export function parseTarget(target: string): RequestTarget | DoorRefusal {
  if (target.length > MAX_CHARACTERS)
    return refuseRequest(`The request target is longer than ${MAX_CHARACTERS} characters.`, 414);
  if (!target.startsWith("/"))
    return refuseRequest("The request target has to be a path that begins with a slash.");
  if (!/^[\x21-\x7e]*$/.test(target) || /[\\#]/.test(target))
    return refuseRequest("The request target holds characters that do not belong into a path or a query.");
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? "" : target.slice(mark);
  return findPathProblem(path) ?? findQueryProblem(query) ?? { path, query };
}

function findPathProblem(path: string): DoorRefusal | undefined {
  if (path.includes("//"))
    return refuseRequest("The path holds two slashes in a row; take the slash off the end of the base URL.");
  const isBroken = /%(?![0-9a-f]{2})/i.test(path) || /%(?:2e|5c|7f|[01][0-9a-f])/i.test(path);
  if (isBroken || (/%2[5f]/i.test(path) && !NAMES_SESSION.test(path)))
    return refuseRequest("The path holds encoded slashes, dots or control characters; write them plainly.");
  if (path.split("/").some((segment) => segment === "." || segment === ".."))
    return refuseRequest('The path holds "." or ".." segments; write it without them.');
  return undefined;
}

function findQueryProblem(query: string): DoorRefusal | undefined {
  if (query === "") return undefined;
  for (const [name, value] of new URLSearchParams(query))
    if (TOKEN_NAMES.test(name) || TOKEN_VALUES.test(value))
      return refuseRequest(
        "A key or a token stands in the URL, where it would end up in logs. Send it as Authorization: Bearer, x-api-key or x-longhaul-token, and replace it: it has been exposed.",
      );
  return undefined;
}
