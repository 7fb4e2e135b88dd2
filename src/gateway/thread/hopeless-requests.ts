import { isLonghaulError } from "../../index.ts";
import type { CallRequest } from "./call-request.ts";

/** A request this much smaller than a refused one is worth repairing again. */
const MAX_SHARE = 0.75;

/** With fewer repairs, the turn was out of them: the next question may be repaired again. */
const MIN_REPAIRS = 3;

/** Remembers the smallest request of a thread that was finally refused as too long, until one succeeds. */
export class HopelessRequests {
  #refused: { readonly model: string; readonly bytes: number } | undefined;

  /** True if a request is not much smaller than one that could not be repaired. */
  covers({ messages, frame }: CallRequest): boolean {
    const { model, bytes } = this.#refused ?? {};
    return bytes !== undefined && model === frame.model && messages.cut.bytes.length > bytes * MAX_SHARE;
  }

  /** Records a request that was refused after `repairs`. */
  record({ messages, frame: { model } }: CallRequest, repairs: number): void {
    if (repairs < MIN_REPAIRS) return;
    const known = this.#refused?.model === model ? this.#refused.bytes : Number.POSITIVE_INFINITY;
    this.#refused = { model, bytes: Math.min(known, messages.cut.bytes.length) };
  }

  /** Clears the record after a successful request. */
  forget(): void {
    this.#refused = undefined;
  }
}

/** Error codes of a window that cannot be reduced any further. */
const HOPELESS_CODES = ["WINDOW_OVERFLOW", "WINDOW_FLOOR", "WINDOW_STUCK"] as const;

/** True for the error of a window that cannot be reduced any further. */
export function isHopeless(error: unknown): boolean {
  return HOPELESS_CODES.some((code) => isLonghaulError(error, code));
}
