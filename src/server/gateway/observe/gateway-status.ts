import type { Monitor, MonitorEvent, MonitorSample, ReliefReport } from "../../../kernel/faces/log.ts";
import type { Savings } from "../../../kernel/faces/window.ts";
import type { GatewayLog } from "./gateway-log.ts";

/** An edit of a window, as reported to people. */
interface EditNews {
  readonly at: number;
  /** One sentence: the sizes, the price, the way back. */
  readonly text: string;
}

/** Money that reported requests took, and the estimated savings of edits. */
export interface GatewaySpending {
  /** US dollars, of requests whose price is known. */
  readonly spentCost: number;
  /** Estimated; its own cost is the next field. */
  readonly savings: Savings;
}

/** The status of a conversation that goes through the gateway. */
export interface ThreadStatus {
  readonly session: string;
  /** The agent, if recognized, such as "claude-code". */
  readonly client?: string;
  /** Purpose of the thread: main, title, compaction… */
  readonly kind: string;
  readonly model?: string;
  /** Tokens of the last request, as its provider counted them, else as estimated. */
  readonly tokens: number;
  /** The client's window. */
  readonly window: number;
  readonly requests: number;
  readonly spending: GatewaySpending;
  readonly lastAt: number;
  /** The latest edits since the gateway started, newest first. */
  readonly edits: readonly EditNews[];
  /** Number of unfinished requests. */
  readonly inFlight: number;
}

/** The status of an upstream. */
export interface UpstreamStatus {
  readonly name: string;
  readonly requests: number;
  readonly failures: number;
  /** Status of its last response. */
  readonly lastStatus?: number;
}

/** Totals since the gateway started. */
export interface GatewayTotals {
  readonly requests: number;
  readonly failures: number;
  /** Edits of windows. */
  readonly edits: number;
  /** Overflows and refused blocks that were repaired without reaching the client. */
  readonly healed: number;
  readonly spending: GatewaySpending;
}

/** The memory of the gateway's process. */
interface GatewayMemory {
  /** The last sample of the monitor; undefined before the first. */
  readonly sample: MonitorSample | undefined;
  readonly relief: ReliefReport | undefined;
  /** Newest first. */
  readonly notices: readonly MemoryNotice[];
}

/** The status of the gateway. */
export interface GatewayStatus {
  readonly url: string;
  readonly startedAt: number;
  /** False while the gateway drains. */
  readonly isOpen: boolean;
  /** Number of unfinished requests. */
  readonly inFlight: number;
  readonly totals: GatewayTotals;
  readonly upstreams: readonly UpstreamStatus[];
  readonly memory: GatewayMemory;
  /** Most recently used first; the source limits their number. */
  readonly threads: readonly ThreadStatus[];
}

/** A message of the monitor for people. */
interface MemoryNotice {
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
