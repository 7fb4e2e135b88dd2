import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/model/json.ts";
import { Census, Lifetime } from "../../src/model/lifetime.ts";
import type { AgentContext, AgentEvent } from "../../src/tasks/agent.ts";
import { commandAgent } from "../../src/tasks/command-agent.ts";
import { buildTaskTag } from "../../src/tasks/process/process-tags.ts";
import { startCommand } from "../../src/tasks/process/run-command.ts";
import { reapStep } from "../../src/tasks/reap-step.ts";
import { eventually } from "../support/eventually.ts";
import { testFolder } from "../support/folder.ts";
import { countTagged, freshTag, shell } from "./process/family.ts";

/** Calls the agent as a supervisor does. */
function begin(input: Json, place?: Json) {
  const task = freshTag();
  const controller = new AbortController();
  const lifetime = new Lifetime("shell", new Census());
  const context = {
    task,
    tag: task,
    input,
    signal: controller.signal,
    lifetime,
    ...(place !== undefined && { place }),
  };
  const events = commandAgent({ graceMs: 200, lingerMs: 0 }).run(context as unknown as AgentContext);
  return { task, controller, lifetime, events: events[Symbol.asyncIterator]() };
}

async function drain(events: AsyncIterator<AgentEvent, unknown>) {
  let output = "";
  let errors = "";
  const others: AgentEvent[] = [];
  for (;;) {
    const step = await events.next();
    if (step.done) return { output, errors, others, result: step.value };
    if (step.value.type !== "output") others.push(step.value);
    else if (step.value.stream === "stderr") errors += step.value.text;
    else output += step.value.text;
  }
}

describe("a program as agent", () => {
  test("a program as agent yields its output, and returns its exit code", async () => {
    const { task, events, lifetime } = begin({
      ...shell("setsid sleep 600 & cat; echo grüße"),
      input: "in ",
    });
    expect(await drain(events)).toEqual({
      output: "in grüße\n",
      errors: "",
      others: [],
      result: { reason: "exited", exitCode: 0, outputBytes: 11 },
    });
    expect(lifetime.owned()).toEqual([]);
    expect(await countTagged(task)).toBe(0);
  });

  test("a program as agent loses no output, however much, and yields it in larger pieces", async () => {
    const { events } = begin({ command: "seq", args: ["1", "100000"] });
    const { output } = await drain(events);
    expect(output).toBe(Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join(""));
  });

  test("a program as agent keeps its two streams separate and in order, without an event for every line", async () => {
    const folder = testFolder();
    const heard = (word: string) => `until test -e "${folder}/${word}"; do sleep 0.02; done;`;
    const { events } = begin(shell(`echo one; ${heard("one")} echo two >&2; ${heard("two")} echo three`));
    const pieces: AgentEvent[] = [];
    for (let step = await events.next(); !step.done; step = await events.next()) {
      pieces.push(step.value);
      if (step.value.type === "output") writeFileSync(join(folder, step.value.text.trim()), "");
    }
    expect(pieces).toEqual([
      { type: "output", text: "one\n" },
      { type: "output", text: "two\n", stream: "stderr" },
      { type: "output", text: "three\n" },
    ]);
    const both = begin(shell("for n in 1 2 3 4 5 6 7 8 9; do seq 1 100; seq 1 100 >&2; done"));
    const { output, errors } = await drain(both.events);
    const numbers = Array.from({ length: 100 }, (_, index) => `${index + 1}\n`).join("");
    expect([output, errors]).toEqual([numbers.repeat(9), numbers.repeat(9)]);
  });

  test("a program as agent fails with the last words of its error output, and its exit code is kept as the result", async () => {
    const { events } = begin(shell("echo working; echo no such thing >&2; exit 3"));
    const seen: AgentEvent[] = [];
    const failing = (async () => {
      for (let step = await events.next(); !step.done; step = await events.next()) seen.push(step.value);
    })();
    await expect(failing).rejects.toThrow("sh failed with exit code 3: no such thing");
    expect(seen.at(-1)).toMatchObject({ type: "result", value: { exitCode: 3 } });
  });

  test("a program as agent runs in the folder of its place, and is refused without a command", async () => {
    const folder = testFolder();
    expect((await drain(begin({ command: "pwd" }, { folder }).events)).output.trim()).toContain(folder);
    await expect(drain(begin({ args: [] }).events)).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
  });

  test("a program as agent ends with all its children, whichever way the task is stopped", async () => {
    const ways = [
      (run: ReturnType<typeof begin>) => run.controller.abort(),
      (run: ReturnType<typeof begin>) => run.lifetime.close(),
      (run: ReturnType<typeof begin>) => run.events.return?.(undefined),
    ];
    for (const stop of ways) {
      const run = begin(shell("setsid sleep 600 & yes"));
      expect(await run.events.next()).toMatchObject({ value: { type: "output" } });
      void Promise.resolve(stop(run)).catch(() => {});
      void run.events.next().catch(() => {});
      await eventually("no process of the run is left", async () => (await countTagged(run.task)) === 0);
    }
  });
});

test("the step after the end of a task ends its remaining processes, and no others", async () => {
  const [task, other] = [freshTag(), freshTag()];
  const commands = await Promise.all(
    [task, other].map((tag) => startCommand({ command: "sleep", args: ["600"], tag })),
  );
  const step = reapStep();
  const run = (id: string) => step.run({ task: { id }, tag: id } as never, new AbortController().signal);
  expect(await Promise.all([run(task), run("nobody's")])).toEqual([{ ended: 1 }, undefined]);
  expect([await countTagged(task), await countTagged(other)]).toEqual([0, 1]);
  for (const command of commands) command.stop();
  await Promise.all(commands.map((command) => command.ended));
});

test("an id with characters that an environment cannot hold gets a hashed tag", () => {
  expect(buildTaskTag("plain-1", "a1")).toBe("plain-1~a1");
  expect(buildTaskTag("zwei Wörter, #1", "a1")).toMatch(/^task-[0-9a-f]{32}~a1$/);
});
