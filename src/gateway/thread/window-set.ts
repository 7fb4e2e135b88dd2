import type { Session, SessionWindow } from "../../index.ts";
import type { CallRequest } from "./call-request.ts";

/** Maximum number of idle windows; concurrent requests open more. */
const MAX_IDLE = 2;
/** Share by which system prompt and tools may differ from those of an existing window, as dates and counters do. */
const CHANGED_SHARE = 0.02;
const CHANGED_BYTES = 400;

/** The properties of a request that its window depends on. */
export type WindowKey = Pick<CallRequest, "policyKey" | "limits" | "isPaging"> & {
  readonly frame: Pick<CallRequest["frame"], "model" | "maxTokens" | "leadBytes" | "toolsBytes">;
};

interface IdleWindow {
  readonly window: SessionWindow;
  readonly made: WindowKey;
}

/** A window in use by one request. */
export interface WindowLease {
  readonly window: SessionWindow;
  readonly release: () => void;
}

/** The windows of a thread: one for each request in progress, reused for the next similar one. */
export class WindowSet {
  readonly #session: Session;
  #idle: IdleWindow[] = [];

  constructor(session: Session) {
    this.#session = session;
  }

  /** A window for one request; reuses an idle one that matches. */
  take(callRequest: CallRequest): WindowLease {
    const index = this.#idle.findIndex((idle) => isSimilarWindow(idle.made, callRequest));
    const [idle] = index < 0 ? [] : this.#idle.splice(index, 1);
    const { window, made } = idle ?? { window: this.#open(callRequest), made: buildWindowKey(callRequest) };
    const giveBack = () => {
      this.#idle = [{ window, made }, ...this.#idle].slice(0, MAX_IDLE);
    };
    return { window, release: giveBack };
  }

  /** A shared window that is never fitted and only receives reported usage. */
  share(callRequest: CallRequest): WindowLease {
    const taken = this.take({ ...callRequest, policyKey: "not fitted" });
    taken.release();
    return { ...taken, release: () => undefined };
  }

  #open({ frame, limits, policy, isPaging = true }: CallRequest): SessionWindow {
    const { model, maxTokens } = frame;
    const { window, threshold } = limits;
    return this.#session.window({
      model,
      policy,
      system: frame.readLead(),
      tools: frame.readTools(),
      oversize: "clip",
      paging: isPaging,
      threshold: Math.min(100, Math.max(5, (100 * threshold) / Math.max(1, window))),
      models: { [model]: { window } },
      ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    });
  }
}

/** Copies only sizes, so that no request body is retained. */
export function buildWindowKey({ policyKey, limits, frame, isPaging = true }: CallRequest): WindowKey {
  const { model, maxTokens, leadBytes, toolsBytes } = frame;
  return { policyKey, limits, isPaging, frame: { model, maxTokens, leadBytes, toolsBytes } };
}

/** True if a window made for one request also suits the other. */
export function isSimilarWindow(one: WindowKey, other: WindowKey): boolean {
  return (
    one.frame.model === other.frame.model &&
    one.policyKey === other.policyKey &&
    (one.isPaging ?? true) === (other.isPaging ?? true) &&
    one.limits.window === other.limits.window &&
    one.limits.threshold === other.limits.threshold &&
    one.frame.maxTokens === other.frame.maxTokens &&
    isNear(one.frame.leadBytes, other.frame.leadBytes) &&
    isNear(one.frame.toolsBytes, other.frame.toolsBytes)
  );
}

function isNear(one: number, other: number): boolean {
  return Math.abs(one - other) <= Math.max(CHANGED_BYTES, CHANGED_SHARE * one);
}
