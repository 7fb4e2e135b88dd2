import { createArgumentFault, PageFault } from "./page-fault.ts";

/** A request for a page. */
export interface PageRequest {
  readonly method: string;
  /** The decoded path after the name of the page; an id may contain slashes. */
  readonly rest: string;
  readonly query: URLSearchParams;
  /** The reader may see only sessions whose id begins with one of these prefixes; undefined: all. */
  readonly prefixes: readonly string[] | undefined;
  /** Aborts when the reader disconnects. */
  readonly signal: AbortSignal;
}

/** Throws METHOD_NOT_ALLOWED unless the page supports the method. */
export function checkMethod({ method }: PageRequest, ...allowed: readonly string[]): void {
  if (allowed.includes(method)) return;
  const list = allowed.join(", ");
  throw new PageFault(405, "METHOD_NOT_ALLOWED", `This page supports ${list}, not ${method}.`, {
    allow: list,
  });
}

/** A whole number from the query; throws ARGUMENT_INVALID outside 1 to `max`. */
export function readWholeArgument(
  { query }: PageRequest,
  name: string,
  { otherwise, max }: { readonly otherwise: number; readonly max: number },
): number {
  const text = query.get(name);
  if (text === null) return otherwise;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= max) return value;
  throw createArgumentFault(name, text, `a whole number from 1 to ${max}`);
}

/** The session id after the name of a page; throws if it is missing or not the reader's. */
export function readSessionArgument(callRequest: PageRequest): string {
  const { rest } = callRequest;
  if (rest === "") throw new PageFault(400, "ARGUMENT_INVALID", "Name a session; /api/sessions lists them.");
  if (!isVisible(callRequest, rest)) throw createNoSessionFault(rest);
  return rest;
}

/** True if the reader may see a session. */
export function isVisible({ prefixes }: Pick<PageRequest, "prefixes">, session: string): boolean {
  return prefixes === undefined || prefixes.some((prefix) => session.startsWith(prefix));
}

/** The fault for a session that does not exist or belongs to another reader, without telling which. */
export function createNoSessionFault(id: string): PageFault {
  const message = `There is no session ${JSON.stringify(id.slice(0, 200))}; /api/sessions lists them.`;
  return new PageFault(404, "SESSION_NOT_FOUND", message);
}
