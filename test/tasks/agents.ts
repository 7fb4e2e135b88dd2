import { expect } from "vitest";
import type { Store } from "../../src/log/store/store.ts";
import type { AgentContext } from "../../src/tasks/agent.ts";
import type { Tasks } from "../../src/tasks/tasks.ts";
import type { TestSession } from "./host.ts";
import { notesOf } from "./world.ts";

/** Context of these tests' agents. */
export type Context = AgentContext<TestSession>;

/** An agent that writes output and returns. */
export async function* greet(context: Context) {
  yield { type: "output" as const, text: "hello" };
  yield { type: "message" as const, message: { role: "assistant" as const, text: `I got ${context.input}` } };
  return { said: 1 };
}

/** Resolves when the task "t" has written a note of a type. */
export async function until(store: Store, type: string): Promise<void> {
  const words = () => notesOf(store, "t", "t").catch((): string[] => []);
  await expect.poll(words, { interval: 3 }).toContain(type);
}

/** An agent that yields one result and then waits for its signal. */
export async function* patient({ signal }: Context) {
  yield { type: "result" as const, value: "half" };
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
}

/** Resolves when a task is in the store and runs. */
export async function untilRunning(tasks: Tasks<TestSession>, id: string): Promise<void> {
  const state = () =>
    tasks.status(id).then(
      (status) => status.state,
      () => "none",
    );
  await expect.poll(state, { interval: 3 }).toBe("running");
}
