import { PageFault, wrongArgument } from "./page-fault.ts";

/** What a page is asked for. */
export interface PageQuestion {
  readonly method: string;
  /** What stands behind the name of the page, decoded: an id may hold slashes. */
  readonly rest: string;
  readonly query: URLSearchParams;
  /** Only sessions whose id begins so are this reader's. */
  readonly prefix: string;
  /** Fires when the reader has left. */
  readonly signal: AbortSignal;
}

/** Throws METHOD_NOT_ALLOWED unless the page knows the method. */
export function checkMethod({ method }: PageQuestion, ...allowed: readonly string[]): void {
  if (allowed.includes(method)) return;
  const list = allowed.join(", ");
  throw new PageFault(405, "METHOD_NOT_ALLOWED", `This page knows ${list}, not ${method}.`, { allow: list });
}

/** A whole number of the query. */
export function wholeArgument(
  { query }: PageQuestion,
  name: string,
  { otherwise, max }: { readonly otherwise: number; readonly max: number },
): number {
  const text = query.get(name);
  if (text === null) return otherwise;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= max) return value;
  throw wrongArgument(name, text, `a whole number from 1 to ${max}`);
}

/** The id behind the name of a page; there must be one, and it must be the reader's. */
export function sessionArgument({ rest, prefix }: PageQuestion): string {
  if (rest === "") throw new PageFault(400, "ARGUMENT_INVALID", "Name a session; /api/sessions lists them.");
  if (!rest.startsWith(prefix)) throw noSession(rest);
  return rest;
}

/** There is no such session, or it is another's: which of them is not told. */
export function noSession(id: string): PageFault {
  const message = `There is no session ${JSON.stringify(id.slice(0, 200))}; /api/sessions lists those there are.`;
  return new PageFault(404, "SESSION_NOT_FOUND", message);
}
