import { parseJsonOrUndefined, toObject, toText } from "../fields.ts";
import type { ProviderFailure } from "../provider-failure.ts";
import type { WireObject } from "../wire.ts";

/** The error reply of a provider, from which the window recognizes overflows and rejected blocks. */
export function readFailureReply(status: number, body: string): ProviderFailure {
  const value = parseJsonOrUndefined(body);
  return { status, body: value ?? body, ...findMessage(toObject(value)) };
}

/** An error inside a stream. */
export function readStreamFailure(body: WireObject): ProviderFailure {
  return { body, ...findMessage(body) };
}

function findMessage(body: WireObject | undefined): Pick<ProviderFailure, "message"> {
  const inner = toObject(body?.error) ?? toObject(toObject(body?.response)?.error);
  const message = toText(inner?.message) ?? toText(body?.error) ?? toText(body?.message);
  return message === undefined ? {} : { message };
}
