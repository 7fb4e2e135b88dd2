import { expect, test } from "vitest";
import { openKernel } from "../src/kernel/index.ts";
import { testKernel } from "./support/kernel.ts";

/** An option as a caller misspelled it, which types would refuse. */
const misspelled = (value: unknown) => value as Record<string, never>;

test.each([
  [{ deadlinMs: 5 }, "options.deadlinMs is not an option; did you mean deadlineMs?"],
  [{ budget: { dolars: 1 } }, "budget.dolars is not an option; did you mean dollars?"],
  [{ loopGuard: { repeat: 3 } }, "loopGuard.repeat is not an option; did you mean repeats?"],
])("tasks.start refuses %j with the nearest name, and starts nothing", async (options, message) => {
  const kernel = await testKernel();
  const starting = kernel.tasks.start("agent", null, misspelled(options));
  await expect(starting).rejects.toMatchObject({ code: "ARGUMENT_INVALID", message });
  expect(await kernel.tasks.list()).toEqual([]);
});

test("tasks.work refuses an unknown option with the nearest name", async () => {
  const kernel = await testKernel();
  const working = async () => kernel.tasks.work(misspelled({ concurency: 2 }));
  await expect(working()).rejects.toThrow("options.concurency is not an option; did you mean concurrency?");
});

test.each([
  [{ tasks: { collectMs: 500 } }, "tasks.collectMs is not an option; did you mean "],
  [
    { tasks: { limits: { colectMs: 500 } } },
    "tasks.limits.colectMs is not an option; did you mean collectMs?",
  ],
  [{ limits: { spilBytes: 1 } }, "limits.spilBytes is not an option; did you mean spillBytes?"],
  [{ models: { m: { windw: 5 } } }, 'models["m"].windw is not an option; did you mean window?'],
  [
    { models: { m: { prices: { inptu: 5 } } } },
    'models["m"].prices.inptu is not an option; did you mean input?',
  ],
])("openKernel refuses %j with the nearest name", async (options, message) => {
  await expect(openKernel({ path: ":memory:", ...misspelled(options) })).rejects.toThrow(message);
});
