import type { Monitor, MonitorEvent } from "../../log-entry.ts";
import type { GatewayLog } from "./gateway-log.ts";

/** A message of the monitor for people. */
export interface MemoryNotice {
  readonly at: number;
  readonly type: "warning" | "critical" | "normal" | "growth" | "relief";
  readonly text: string;
}

/** Notices that are kept for the dashboard and /api/v1/health. */
const MAX_NOTICES = 20;

/** Writes the messages of the monitor to the log and keeps the newest for people. */
export class MemoryNotices {
  readonly #notices: MemoryNotice[] = [];
  readonly #stop: () => void;

  constructor(monitor: Monitor, log: GatewayLog) {
    this.#stop = monitor.on((event) => this.#take(event, log));
  }

  /** Newest first. */
  get newest(): readonly MemoryNotice[] {
    return [...this.#notices];
  }

  close(): void {
    this.#stop();
  }

  #take(event: MonitorEvent, log: GatewayLog): void {
    if (event.type === "sample") return;
    // Usual work, which is in the log and the metrics only.
    if (event.type === "images") {
      log.info("memory.images", { message: event.text, summary: event.text });
      return;
    }
    const { type, text } = event;
    this.#notices.unshift({ at: Date.now(), type, text });
    this.#notices.length = Math.min(this.#notices.length, MAX_NOTICES);
    const isBad = type === "critical" || type === "warning" || type === "growth";
    log[isBad ? "error" : "info"](`memory.${type}`, { message: text, summary: text });
  }
}
