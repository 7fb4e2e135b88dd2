import { expect, test } from "vitest";
import { Census } from "../../src/model/lifetime.ts";
import type { AgentEvent } from "../../src/tasks/agent.ts";
import { AgentDriver } from "../../src/tasks/agent-driver.ts";
import { systemTimer } from "../../src/tasks/timer.ts";

/** A shell whose events arrive when told to, with the events it has consumed. */
function driven() {
  const shell = new AgentDriver(1, new Census(), systemTimer, { returnMs: 100, closeMs: 100 });
  const asked: PromiseWithResolvers<IteratorResult<AgentEvent, unknown>>[] = [];
  shell.begin({
    [Symbol.asyncIterator]: () => ({
      next() {
        asked.push(Promise.withResolvers());
        return (asked.at(-1) as (typeof asked)[number]).promise;
      },
    }),
  });
  const taken: AgentEvent[] = [];
  const drive = () => shell.drive(async (event) => void taken.push(event));
  return { shell, asked, taken, drive };
}

test("an event that the agent yields during a move reaches the background first", async () => {
  const { shell, asked, taken, drive } = driven();
  const first = drive();
  shell.detach();
  expect(await first).toEqual({ type: "detach" });
  asked[0]?.resolve({ done: false, value: { type: "output", text: "meanwhile" } });
  await new Promise(setImmediate);
  shell.continueUnder(2, undefined);
  const second = drive();
  await new Promise(setImmediate);
  asked[1]?.resolve({ done: true, value: "all" });
  expect(await second).toEqual({ type: "done", value: "all" });
  expect(taken).toEqual([{ type: "output", text: "meanwhile" }]);
  expect(asked).toHaveLength(2);
});

test("an agent that fails during the move to the background has failed", async () => {
  const { shell, asked, drive } = driven();
  const first = drive();
  shell.detach();
  await first;
  const error = new Error("meanwhile");
  asked[0]?.reject(error);
  await new Promise(setImmediate);
  shell.continueUnder(2, undefined);
  expect(await drive()).toEqual({ type: "threw", error });
});

test("the first thing that an agent opened is closed even if the last one hangs", async () => {
  const { shell } = driven();
  const closed: string[] = [];
  shell.lifetime.own({ close: () => void closed.push("first") });
  shell.lifetime.own({ close: () => new Promise<void>(() => undefined) });
  await shell.close();
  await expect.poll(() => closed).toEqual(["first"]);
});
