import type { Json } from "../../index.ts";
import type { AgentShape } from "../identity/agent-shape.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";
import { CONTROL_ARMS, type ControlArm } from "../identity/control-arm.ts";

/** Facts about a thread, stored in its session's metadata. */
export interface ThreadMeta {
  readonly kind: ThreadKind;
  readonly shape: AgentShape;
  readonly firstKey: string;
  /** The name of the client that began the conversation, for labels. */
  readonly client?: string;
  /** The sub-agent of the conversation, as the client names it. */
  readonly agent?: string;
  /** The working directory of the client when the conversation began. */
  readonly project?: string;
  /** True if the provider's stored conversation is incomplete, so that requests are rewritten from the log. */
  readonly isOurs?: true;
  /** True if the model was offered recall tools, and so is to the end of the conversation. */
  readonly hasRecallTools?: true;
  /** The part that the conversation plays in a comparison; absent if it began without one. */
  readonly arm?: ControlArm;
}

/** Metadata of a thread as session metadata; `claim` tells which of several gateways has created the session. */
export function encodeThreadMeta(meta: ThreadMeta, claim?: string): { readonly [key: string]: Json } {
  return { gateway: { ...meta, ...(claim !== undefined && { claim }) } as unknown as Json };
}

/** Metadata of the thread of a session; undefined if the gateway did not create it. */
export function parseThreadMeta(meta: { readonly [key: string]: Json } | undefined): ThreadMeta | undefined {
  const stored = meta?.gateway as Partial<ThreadMeta> | undefined;
  if (typeof stored !== "object" || stored === null) return undefined;
  const { kind, shape, firstKey, client, agent, project, isOurs, hasRecallTools, arm } = stored;
  if (typeof kind !== "string" || typeof shape?.digest !== "string" || typeof firstKey !== "string")
    return undefined;
  return {
    kind,
    shape,
    firstKey,
    ...(typeof client === "string" && { client }),
    ...(typeof agent === "string" && { agent }),
    ...(typeof project === "string" && { project }),
    ...(isOurs === true && { isOurs }),
    ...(hasRecallTools === true && { hasRecallTools }),
    ...(arm !== undefined && CONTROL_ARMS.includes(arm) && { arm }),
  };
}
