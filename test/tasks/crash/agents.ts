import { setTimeout as sleep } from "node:timers/promises";
import type { Agent } from "../../../src/tasks/agent.ts";
import type { TestSession } from "../host.ts";

/** An agent with three slow steps and a checkpoint after each; resumable. */
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

/** The same agent, but not resumable. */
export const fragile: Agent<TestSession> = { ...walker, name: "fragile", canResume: false };

/** An agent that starts two children and waits for one of them. */
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
