import type { Session, SessionWindow } from "../../index.ts";
import type { Asked } from "./asked.ts";

/** Maximum number of idle windows; concurrent requests open more. */
const MOST_IDLE = 2;
/** Share by which system prompt and tools may differ from those of an existing window, as dates and counters do. */
const CHANGED_SHARE = 0.02;
const CHANGED_BYTES = 400;

/** The properties of a request that its window depends on. */
export type Made = Pick<Asked, "policyKey" | "room" | "isPaging"> & {
  readonly frame: Pick<Asked["frame"], "model" | "maxTokens" | "leadBytes" | "toolsBytes">;
};

interface Idle {
  readonly window: SessionWindow;
  readonly made: Made;
}

/** A window in use by one request. */
export interface TakenWindow {
  readonly window: SessionWindow;
  readonly giveBack: () => void;
}

/** The windows of a thread: one for each request in progress, reused for the next similar one. */
export class WindowSet {
  readonly #session: Session;
  #idle: Idle[] = [];

  constructor(session: Session) {
    this.#session = session;
  }

  /** A window for one request; reuses an idle one that matches. */
  take(asked: Asked): TakenWindow {
    const index = this.#idle.findIndex((idle) => isAlike(idle.made, asked));
    const [idle] = index < 0 ? [] : this.#idle.splice(index, 1);
    const { window, made } = idle ?? { window: this.#open(asked), made: madeFor(asked) };
    const giveBack = () => {
      this.#idle = [{ window, made }, ...this.#idle].slice(0, MOST_IDLE);
    };
    return { window, giveBack };
  }

  /** A shared window that is never fitted and only receives reported usage. */
  share(asked: Asked): TakenWindow {
    const taken = this.take({ ...asked, policyKey: "not fitted" });
    taken.giveBack();
    return { ...taken, giveBack: () => undefined };
  }

  #open({ frame, room, policy, isPaging = true }: Asked): SessionWindow {
    const { model, maxTokens } = frame;
    const { window, threshold } = room;
    return this.#session.window({
      model,
      policy,
      system: frame.lead(),
      tools: frame.tools(),
      oversize: "clip",
      paging: isPaging,
      threshold: Math.min(100, Math.max(5, (100 * threshold) / Math.max(1, window))),
      models: { [model]: { window } },
      ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    });
  }
}

/** Copies only sizes, so that no request body is retained. */
export function madeFor({ policyKey, room, frame, isPaging = true }: Asked): Made {
  const { model, maxTokens, leadBytes, toolsBytes } = frame;
  return { policyKey, room, isPaging, frame: { model, maxTokens, leadBytes, toolsBytes } };
}

/** True if a window made for one request also suits the other. */
export function isAlike(one: Made, other: Made): boolean {
  return (
    one.frame.model === other.frame.model &&
    one.policyKey === other.policyKey &&
    (one.isPaging ?? true) === (other.isPaging ?? true) &&
    one.room.window === other.room.window &&
    one.room.threshold === other.room.threshold &&
    one.frame.maxTokens === other.frame.maxTokens &&
    isNear(one.frame.leadBytes, other.frame.leadBytes) &&
    isNear(one.frame.toolsBytes, other.frame.toolsBytes)
  );
}

function isNear(one: number, other: number): boolean {
  return Math.abs(one - other) <= Math.max(CHANGED_BYTES, CHANGED_SHARE * one);
}
