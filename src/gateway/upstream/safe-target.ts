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
