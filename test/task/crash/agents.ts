import { setTimeout as sleep } from "node:timers/promises";
import type { Agent } from "../../../src/task/agent.ts";
import type { TestSession } from "../host.ts";

/** Takes some steps with a checkpoint each, and a little time; can go on where it was. */
export const walker: Agent<TestSession> = {
  name: "walker",
  canResume: true,
  async *run({ checkpoint }) {
    for (let step = Number(checkpoint ?? 0) + 1; step <= 3; step++) {
      if (step === 2) await sleep(2);
      yield { type: "checkpoint", value: step };
    }
    return "there";
  },
};

/** The same, but lost with its process. */
export const fragile: Agent<TestSession> = { ...walker, name: "fragile", canResume: false };

/** Starts two children and waits for one of them. */
export const parent: Agent<TestSession> = {
  name: "parent",
  canResume: false,
  async *run({ start, input }) {
    const first = await start(walker, null, { id: `${input}/1` });
    await start(fragile, null, { id: `${input}/2` });
    await first.wait();
    yield { type: "step" };
    return "both";
  },
};
