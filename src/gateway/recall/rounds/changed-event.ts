import type { JsonObject, WireEvent } from "../../api/api.ts";

/** An event with other data. */
export function changedEvent({ event }: WireEvent, value: JsonObject): WireEvent {
  return { ...(event !== undefined && { event }), data: JSON.stringify(value) };
}

/** An event of the gateway, named by its type. */
export function namedEvent(value: JsonObject & { readonly type: string }): WireEvent {
  return { event: value.type, data: JSON.stringify(value) };
}
