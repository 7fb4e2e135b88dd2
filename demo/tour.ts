import type { Length } from "./conversation/conversation.ts";
import { MemoryMeter } from "./memory.ts";
import type { Stop } from "./stop.ts";
import type { Terminal } from "./terminal.ts";

/** What every chapter is given. */
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

  /** To be called between steps: looks at the memory, and throws Stopped if the watcher has seen enough. */
  step(): void {
    this.memory.sample();
    this.stop.check();
  }
}

/** Ends the demonstration if what it shows is not true. */
export function expect(isTrue: boolean, claim: string): void {
  if (!isTrue) throw new Error(`This should hold and does not: ${claim}.`);
}
