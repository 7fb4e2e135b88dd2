import type { Json } from "../../index.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";
import type { Shape } from "../identity/shape.ts";

/** What a session of the gateway remembers of its thread. */
export interface SessionMark {
  readonly kind: ThreadKind;
  readonly shape: Shape;
  readonly firstKey: string;
  /** The sub-agent whose conversation it is, as the client names it. */
  readonly agent?: string;
  /** True if the provider's own copy of the conversation lacks some of it: requests are sent as the log has it. */
  readonly isOurs?: true;
}

/** A mark as a session's meta holds it. */
export function metaOf(mark: SessionMark): { readonly [key: string]: Json } {
  return { gateway: mark as unknown as Json };
}

/** The mark of a session; undefined if the gateway did not make it. */
export function markOf(meta: { readonly [key: string]: Json } | undefined): SessionMark | undefined {
  const mark = meta?.gateway as Partial<SessionMark> | undefined;
  if (typeof mark !== "object" || mark === null) return undefined;
  const { kind, shape, firstKey, agent, isOurs } = mark;
  if (typeof kind !== "string" || typeof shape?.digest !== "string" || typeof firstKey !== "string")
    return undefined;
  return {
    kind,
    shape,
    firstKey,
    ...(typeof agent === "string" && { agent }),
    ...(isOurs === true && { isOurs }),
  };
}
