import type { EventEmitter } from "node:events";

/** Listens until the signal fires. */
export function listenUntil(
  signal: AbortSignal,
  emitter: EventEmitter,
  event: string,
  listener: Parameters<EventEmitter["on"]>[1],
): void {
  if (signal.aborted) return;
  emitter.on(event, listener);
  signal.addEventListener("abort", () => emitter.off(event, listener), { once: true });
}
