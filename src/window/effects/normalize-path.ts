/**
 * Normalizes a path so that paths from different tools compare equal: forward slashes, no doubled slashes, no `./`, and
 * `..` resolved where possible.
 */
export function normalizePath(path: string, folder?: string): string {
  const slashed = path.trim().replaceAll("\\", "/");
  const joined = folder === undefined || isRooted(slashed) ? slashed : `${folder}/${slashed}`;
  const isAbsolute = joined.startsWith("/");
  const kept: string[] = [];
  for (const step of joined.replaceAll("\\", "/").split("/")) {
    if (step === "" || step === ".") continue;
    const last = kept.at(-1);
    if (step !== "..") kept.push(step);
    else if (last !== undefined && last !== ".." && last !== "~") kept.pop();
    else if (!isAbsolute) kept.push(step);
  }
  return `${isAbsolute ? "/" : ""}${kept.join("/")}`;
}

function isRooted(path: string): boolean {
  return path.startsWith("/") || path.startsWith("~") || /^[A-Za-z]:\//.test(path);
}
