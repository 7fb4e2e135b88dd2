import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { createCleanups, type EndingHost } from "../../../src/tasks/process/cleanups.ts";
import { runCommand } from "../../../src/tasks/process/run-command.ts";
import { freshTag } from "./family.ts";

const module = new URL("../../../src/tasks/process/cleanups.ts", import.meta.url).href;

/** Runs a program with registered cleanups, and returns its exit and output. */
function end(code: string) {
  const program = `import { createCleanups, processCleanups } from ${JSON.stringify(module)};
    const say = (text) => require("fs").writeSync(1, text + "\\n");
    import { createRequire } from "node:module"; const require = createRequire(import.meta.url);
    const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    ${code}`;
  const args = ["--input-type=module", "-e", program];
  return runCommand({ command: process.execPath, args, tag: freshTag() });
}

const SIGNAL_ITSELF = `process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1000);`;

function makeHost() {
  const events = new EventEmitter();
  const killed: string[] = [];
  const host = Object.assign(events, {
    pid: 0,
    kill: (_pid: number, signal: string) => {
      killed.push(signal);
      return true;
    },
    exit: () => {},
  }) as unknown as EndingHost & EventEmitter;
  return { host, killed };
}

describe("clean-ups", () => {
  test("clean-ups run in reverse order, a failing one stops no other, and then the signal takes effect", async () => {
    const { stdout, signal } = await end(`
      processCleanups().add(async (reason) => { await later(20); say("first " + reason); });
      processCleanups().add(() => say("after all"), { isLast: true });
      processCleanups().add(() => { throw new Error("broken"); });
      processCleanups().add(async () => { await later(20); say("third"); });
      const remove = processCleanups().add(() => say("never"));
      remove();
      ${SIGNAL_ITSELF}`);
    expect(stdout).toBe("third\nfirst SIGTERM\nafter all\n");
    expect(signal).toBe("SIGTERM");
  });

  test("hanging clean-ups are abandoned after their time, and urgent ones still run", async () => {
    const { stdout, signal } = await end(`
      const cleanups = createCleanups({ eachMs: 30, graceMs: 100 });
      cleanups.add(() => say("reached"));
      cleanups.add(() => new Promise(() => {}), { onExit: () => say("at once") });
      for (let i = 0; i < 10; i++) cleanups.add(() => new Promise(() => {}));
      ${SIGNAL_ITSELF}`);
    expect(stdout).toBe("reached\nat once\n");
    expect(signal).toBe("SIGTERM");
  });

  test("clean-ups run when no work is left, and only urgent ones on process.exit()", async () => {
    const done = await end(`processCleanups().add(async (reason) => { await later(20); say(reason); });`);
    expect(done).toMatchObject({ stdout: "beforeExit\n", exitCode: 0 });
    const exited = await end(`
      processCleanups().add(() => say("sync"));
      processCleanups().add(async () => say("not this"), { onExit: () => say("at once") });
      process.exit(4);`);
    expect(exited).toMatchObject({ stdout: "at once\nsync\n", exitCode: 4 });
  });

  test("clean-ups run on an uncaught error, which is then reported as usual", async () => {
    const ended = await end(`
      processCleanups().add(async (reason) => { await later(20); say(reason); });
      setTimeout(() => { throw new Error("unforeseen"); }, 1);
      setInterval(() => {}, 1000);`);
    expect(ended).toMatchObject({ stdout: "uncaughtException\n", exitCode: 1 });
    expect(ended.stderr).toContain("Error: unforeseen");
  });

  test("clean-ups leave signals to a program with its own listener", async () => {
    const { stdout, exitCode } = await end(`
      processCleanups().add(() => say("cleaned"));
      process.on("SIGTERM", async () => { say("mine"); await processCleanups().run(); process.exit(9); });
      ${SIGNAL_ITSELF}`);
    expect(stdout).toBe("mine\ncleaned\n");
    expect(exitCode).toBe(9);
  });

  test("clean-ups add one listener for each signal, only while something is registered", () => {
    const { host } = makeHost();
    const cleanups = createCleanups({ host });
    const removes = Array.from({ length: 100 }, () => cleanups.add(() => {}));
    const counts = () =>
      ["SIGINT", "SIGTERM", "SIGHUP", "exit", "uncaughtException"].map((name) => host.listenerCount(name));
    expect(counts()).toEqual([1, 1, 1, 1, 1]);
    for (const remove of removes) remove();
    for (const remove of removes) remove();
    expect(counts()).toEqual([0, 0, 0, 0, 0]);
  });

  test("clean-ups run once, however often they are called", async () => {
    const { host, killed } = makeHost();
    const cleanups = createCleanups({ host });
    let runs = 0;
    cleanups.add(async () => void runs++);
    await Promise.all([cleanups.run(), cleanups.run()]);
    await cleanups.run();
    expect(runs).toBe(1);
    cleanups.add(async () => void runs++);
    host.emit("SIGINT", "SIGINT");
    await cleanups.run();
    await new Promise(setImmediate);
    expect(runs).toBe(2);
    expect(killed).toEqual(["SIGINT"]);
  });

  test("a second signal does not wait for clean-ups", async () => {
    const { host, killed } = makeHost();
    const cleanups = createCleanups({ host, eachMs: 50 });
    let isForced = false;
    cleanups.add(() => new Promise(() => {}), {
      onExit: () => {
        isForced = true;
      },
    });
    host.emit("SIGINT", "SIGINT");
    expect([isForced, killed.length]).toEqual([false, 0]);
    host.emit("SIGINT", "SIGINT");
    expect([isForced, killed.length]).toEqual([true, 1]);
  });

  test("the listeners of signal-exit do not count as the program's own", async () => {
    const { host, killed } = makeHost();
    Object.assign(host, { [Symbol.for("signal-exit emitter")]: { count: 1 } });
    host.on("SIGINT", () => {});
    const cleanups = createCleanups({ host });
    let isRun = false;
    cleanups.add(() => {
      isRun = true;
    });
    host.emit("SIGINT", "SIGINT");
    await new Promise(setImmediate);
    expect([isRun, killed]).toEqual([true, ["SIGINT"]]);
  });
});
