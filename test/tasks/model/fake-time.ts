import type { Clock } from "../../../src/model/clock.ts";
import type { Timer } from "../../../src/tasks/timer.ts";

interface Alarm {
  readonly at: number;
  readonly ring: () => void;
  readonly canRing: () => boolean;
}

/** Runs everything that is ready. */
export async function settleDown(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A clock that advances only when told to, with timers that follow it. */
export class FakeTime implements Clock {
  readonly #alarms = new Set<Alarm>();
  #now = 1_000_000;

  now(): number {
    return this.#now;
  }

  /** Timers that ring only while `canRing` holds: those of a dead or sleeping process do not. */
  timer(canRing: () => boolean): Timer {
    return {
      after: (delayMs, ring) => {
        const alarm = { at: this.#now + delayMs, ring, canRing };
        this.#alarms.add(alarm);
        return () => this.#alarms.delete(alarm);
      },
    };
  }

  /** Advances the time, ringing due timers one by one. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const next = this.#next(end);
      if (!next) break;
      this.#alarms.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.ring();
      await settleDown();
    }
    this.#now = end;
  }

  /** Removes all timers. */
  clear(): void {
    this.#alarms.clear();
  }

  #next(end: number): Alarm | undefined {
    let next: Alarm | undefined;
    for (const alarm of this.#alarms) {
      if (alarm.at > end || !alarm.canRing()) continue;
      if (!next || alarm.at < next.at) next = alarm;
    }
    return next;
  }
}
