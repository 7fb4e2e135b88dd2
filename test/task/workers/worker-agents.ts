import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Agent } from "../../../src/task/agent.ts";

/** Input of the agents: how often and how long they pause. */
export type StepsInput = { readonly steps: number; readonly pauseMs: number };

/** Writes a checkpoint after each step; can be resumed. */
export const stepper: Agent = {
  name: "stepper",
  canResume: true,
  async *run({ input, checkpoint, signal }) {
    const { steps, pauseMs } = input as StepsInput;
    for (let step = Number(checkpoint ?? 0) + 1; step <= steps; step++) {
      await sleep(pauseMs, undefined, { signal });
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
