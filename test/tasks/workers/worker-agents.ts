import { existsSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Agent } from "../../../src/tasks/agent.ts";

/** Input of the agents: how often and how long they pause, and a file that keeps them from the last step. */
export type StepsInput = { readonly steps: number; readonly pauseMs: number; readonly hold?: string };

/** Writes a checkpoint after each step; can be resumed. */
export const stepper: Agent = {
  name: "stepper",
  canResume: true,
  async *run({ input, checkpoint, signal }) {
    const { steps, pauseMs, hold } = input as StepsInput;
    for (let step = Number(checkpoint ?? 0) + 1; step <= steps; step++) {
      do await sleep(pauseMs, undefined, { signal });
      while (step === steps && hold !== undefined && existsSync(hold));
      yield { type: "checkpoint", value: step };
    }
    return "done";
  },
};

/** The same agent, but it cannot be resumed. */
export const brittle: Agent = { ...stepper, name: "brittle", canResume: false };

/** Says something, and then waits to be stopped, which it prints. */
export const waiter: Agent = {
  name: "waiter",
  async *run({ signal, task }) {
    yield { type: "output", text: "waiting" };
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    writeSync(1, `aborted ${task}\n`);
  },
};
