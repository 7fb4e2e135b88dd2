import type { WireEvent, WireObject } from "../../../wire/wire.ts";

/** An event with other data. */
export function replaceEventData({ event }: WireEvent, value: WireObject): WireEvent {
  return { ...(event !== undefined && { event }), data: JSON.stringify(value) };
}

/** An event of the gateway, named by its type. */
export function buildNamedEvent(value: WireObject & { readonly type: string }): WireEvent {
  return { event: value.type, data: JSON.stringify(value) };
}
