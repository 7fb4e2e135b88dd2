import type { Length } from "./conversation/conversation.ts";
import { MemoryMeter } from "./memory.ts";
import type { Stop } from "./stop.ts";
import type { Terminal } from "./terminal.ts";

/** Context of every chapter. */
export class Tour {
  readonly length: Length;
  readonly terminal: Terminal;
  readonly stop: Stop;
  readonly memory = new MemoryMeter();

  constructor(parts: Pick<Tour, "length" | "terminal" | "stop">) {
    this.length = parts.length;
    this.terminal = parts.terminal;
    this.stop = parts.stop;
  }

  /** Must be called between steps: samples the memory, and throws Stopped if a stop was requested. */
  step(): void {
    this.memory.sample();
    this.stop.check();
  }
}

/** Ends the demo if a claim does not hold. */
export function expect(isTrue: boolean, claim: string): void {
  if (!isTrue) throw new Error(`This should hold and does not: ${claim}.`);
}
