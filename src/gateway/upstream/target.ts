/** The target of a request, in two: together they are what the client sent. */
export interface Target {
  readonly path: string;
  /** With its question mark; empty where there is none. */
  readonly query: string;
}

/**
 * Splits a target of the form "/path?query". Undefined for any other: an address in full, a fragment, a way up, a character
 * that no target may have.
 */
export function parseTarget(target: string): Target | undefined {
  const at = target.indexOf("?");
  const path = at < 0 ? target : target.slice(0, at);
  const query = at < 0 ? "" : target.slice(at);
  return isSafePath(path) && isSafeQuery(query) ? { path, query } : undefined;
}

/** True if the path stays below its root, however an upstream decodes it. */
export function isSafePath(path: string): boolean {
  if (!/^\/(?!\/)[!-~]*$/.test(path) || /[?#\\]/.test(path)) return false;
  if (!/[.%]/.test(path)) return true;
  const decoded = path.replace(/%(2e|2f|5c)/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return !/%(?:[01]|7f)/i.test(path) && !decoded.split(/[/\\]/).some((part) => part === "." || part === "..");
}

/** True for a query as it stands in a target: empty, or "?" and what may follow it. */
export function isSafeQuery(query: string): boolean {
  return query === "" || /^\?[!-"$-~\x80-\xff]*$/.test(query);
}
