import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findCheckout } from "../../src/tasks/checkouts.ts";
import { commandAgent } from "../../src/tasks/command-agent.ts";
import { testFolder } from "../support/folder.ts";
import { testHost } from "./world.ts";

test("a folder of another machine is mapped by the longest matching checkout", () => {
  const here = testFolder();
  const checkouts = { "/there": "/nowhere", "/there/app": here };
  expect(findCheckout("/there/app", checkouts)).toBe(here);
  expect(findCheckout("/there/app/", checkouts)).toBe(here);
  expect(findCheckout(here, {})).toBe(here);
  // Not a folder below it.
  expect(() => findCheckout("/there/application", checkouts)).toThrow(
    "/nowhere/application (for /there/application)",
  );
});

test("a program whose folder is missing on the worker's machine fails, and the error names the missing checkout", async () => {
  const { tasks } = await testHost();
  tasks.register(commandAgent({ checkouts: {} }));
  await tasks.work({ queues: ["q"] });
  const folder = join(testFolder(), "elsewhere");
  const task = await tasks.start("command", { command: "true", cwd: folder }, { queue: "q" });
  const { state, outcome } = await task.wait();
  expect([state, outcome?.error]).toEqual(["failed", expect.stringContaining(`--checkout ${folder}=FOLDER`)]);
  expect(outcome?.error).toContain(hostname());
});
