/** True if the path stays below its root in any way an upstream may decode it. */
export function isSafePath(path: string): boolean {
  if (!/^\/(?!\/)[!-~]*$/.test(path) || /[?#\\]/.test(path)) return false;
  if (!/[.%]/.test(path)) return true;
  const decoded = path.replace(/%(2e|2f|5c)/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return !/%(?:[01]|7f)/i.test(path) && !decoded.split(/[/\\]/).some((part) => part === "." || part === "..");
}

/** True for a query as written in a request target: empty, or "?" followed by allowed characters. */
export function isSafeQuery(query: string): boolean {
  return query === "" || /^\?[!-"$-~\x80-\xff]*$/.test(query);
}
