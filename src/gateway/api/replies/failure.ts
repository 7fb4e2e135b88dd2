import { objectOf, textOf } from "../../../formats/content/fields.ts";
import type { ProviderFailure } from "../../../index.ts";
import type { JsonObject } from "../api.ts";
import { valueIn } from "./event-json.ts";

/** The error reply of a provider, from which the window recognizes overflows and rejected blocks. */
export function failureOf(status: number, body: string): ProviderFailure {
  const value = valueIn(body);
  return { status, body: value ?? body, ...messageIn(objectOf(value)) };
}

/** An error inside a stream. */
export function failureIn(body: JsonObject): ProviderFailure {
  return { body, ...messageIn(body) };
}

function messageIn(body: JsonObject | undefined): Pick<ProviderFailure, "message"> {
  const inner = objectOf(body?.error) ?? objectOf(objectOf(body?.response)?.error);
  const message = textOf(inner?.message) ?? textOf(body?.error) ?? textOf(body?.message);
  return message === undefined ? {} : { message };
}
