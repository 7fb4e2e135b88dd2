import { checkFields } from "./argument-checks.ts";
import { clipEnd } from "./base/clip-end.ts";
import { checkWholeNumber, createArgumentError } from "./errors.ts";
import { maskSecrets } from "./secrets/mask-secrets.ts";

/** Why a request ended before its reply was whole. */
export interface RequestEnd {
  /** Who ended it: the client that left, longhaul by a limit or because it closes, or the provider. */
  readonly by: "client" | "longhaul" | "provider";
  /** The error message of the party that ended the request. */
  readonly failure?: string;
  /** Number of times that longhaul had sent it again with another window. */
  readonly retries?: number;
}

/** Providers quote whole requests in some errors. */
const MAX_FAILURE_CHARACTERS = 500;
const NAMES: Readonly<Record<RequestEnd["by"], string>> = {
  client: "the client",
  longhaul: "longhaul",
  provider: "the provider",
};

/** Returns the end with a failure that is fit to be stored: on one short line, without secrets. */
export function toStoredEnd({ failure, ...rest }: RequestEnd): RequestEnd {
  if (failure === undefined) return rest;
  const words = maskSecrets(failure.replace(/\s+/g, " ").trim());
  return { ...rest, failure: clipEnd(words, MAX_FAILURE_CHARACTERS) };
}

/** One sentence about the end of a request. */
export function describeRequestEnd({ by, failure, retries = 0 }: RequestEnd): string {
  const why = failure === undefined ? "" : `: ${failure}`;
  const again = retries === 0 ? "" : ` (after ${retries} ${retries === 1 ? "retry" : "retries"})`;
  return `request ended by ${NAMES[by]}${why}${again}`;
}

/** Returns the end, or throws ARGUMENT_INVALID. */
export function checkRequestEnd(end: RequestEnd): RequestEnd {
  const { by, retries = 0 } = checkFields("requestEnd", end, { failure: "text?" });
  if (!Object.hasOwn(NAMES, by))
    throw createArgumentError("requestEnd.by", by, '"client", "longhaul" or "provider"');
  checkWholeNumber("requestEnd.retries", retries, 0);
  return end;
}
