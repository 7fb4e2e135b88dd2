import { type WindowLease, WindowPool } from "../../conversation/window-pool.ts";
import type { Session } from "../../index.ts";
import type { ShrinkOption } from "../../window-entry.ts";
import type { CallRequest } from "./call-request.ts";

const MAX_IDLE = 2;
/** Share by which system prompt and tools may differ from those of an existing window, as dates and counters do. */
const CHANGED_SHARE = 0.02;
const CHANGED_BYTES = 400;

/** The properties of a request that its window depends on. */
export type WindowKey = Pick<CallRequest, "policyKey" | "limits" | "isPaging" | "shrink"> & {
  readonly memories?: { readonly agent: string } | undefined;
  readonly frame: Pick<CallRequest["frame"], "model" | "maxTokens" | "leadBytes" | "toolsBytes">;
};

/** The windows of a thread; similar requests reuse a window. */
export type ThreadWindows = WindowPool<CallRequest, WindowKey>;

/** Creates the windows of a session. */
export function createThreadWindows(session: Session): ThreadWindows {
  return new WindowPool({
    maxIdle: MAX_IDLE,
    toKey: buildWindowKey,
    isSimilar: isSimilarWindow,
    open: ({ frame, limits, policy, isPaging = true, shrink = true, memories }: CallRequest) => {
      const { model, maxTokens } = frame;
      const { window, threshold } = limits;
      return session.window({
        model,
        policy,
        system: frame.readLead(),
        tools: frame.readTools(),
        oversize: "clip",
        paging: isPaging,
        shrink,
        threshold: Math.min(100, Math.max(5, (100 * threshold) / Math.max(1, window))),
        models: { [model]: { window } },
        ...(memories && { memories: memories.agent }),
        ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
      });
    },
  });
}

/** A window that is never fitted, for requests whose usage says nothing about a window. */
export function shareWindow(windows: ThreadWindows, callRequest: CallRequest): WindowLease {
  return windows.share({ ...callRequest, policyKey: "not fitted" });
}

/** Copies only sizes, so that no request body is retained. */
export function buildWindowKey(callRequest: CallRequest): WindowKey {
  const { policyKey, limits, frame, isPaging = true, shrink = true, memories } = callRequest;
  const { model, maxTokens, leadBytes, toolsBytes } = frame;
  const own = memories && { memories: { agent: memories.agent } };
  return {
    policyKey,
    limits,
    isPaging,
    shrink,
    ...own,
    frame: { model, maxTokens, leadBytes, toolsBytes },
  };
}

/** True if a window made for one request also suits the other. */
export function isSimilarWindow(one: WindowKey, other: WindowKey): boolean {
  return (
    one.frame.model === other.frame.model &&
    one.policyKey === other.policyKey &&
    one.memories?.agent === other.memories?.agent &&
    isSameShrink(one.shrink, other.shrink) &&
    (one.isPaging ?? true) === (other.isPaging ?? true) &&
    one.limits.window === other.limits.window &&
    one.limits.threshold === other.limits.threshold &&
    one.frame.maxTokens === other.frame.maxTokens &&
    isNear(one.frame.leadBytes, other.frame.leadBytes) &&
    isNear(one.frame.toolsBytes, other.frame.toolsBytes)
  );
}

function isSameShrink(one: ShrinkOption = true, other: ShrinkOption = true): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function isNear(one: number, other: number): boolean {
  return Math.abs(one - other) <= Math.max(CHANGED_BYTES, CHANGED_SHARE * one);
}
