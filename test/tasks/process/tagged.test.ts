import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openKernel } from "../../../src/kernel/index.ts";
import { commandAgent } from "../../../src/tasks/command-agent.ts";
import type { ProcessTable } from "../../../src/tasks/process/process-table.ts";
import { startCommand } from "../../../src/tasks/process/run-command.ts";
import {
  createProcTable,
  createPsTable,
  getSystemTable,
  identifyProcess,
  isProcessAlive,
  parsePsLine,
} from "../../../src/tasks/process/system-table.ts";
import { findTagged, reapTagged } from "../../../src/tasks/process/tagged.ts";
import { startChild } from "../../support/child.ts";
import { eventually } from "../../support/eventually.ts";
import { testFolder } from "../../support/folder.ts";
import { proofCases, sizedTest } from "../../support/proof.ts";
import { countTagged, freshTag, shell } from "./family.ts";

const supervisor = new URL("supervisor.ts", import.meta.url);

describe("the trees of a supervisor", () => {
  test("the processes of a killed supervisor are found and ended by another process", async () => {
    const tag = freshTag();
    const child = startChild(supervisor, [tag]);
    expect((await child.lines.next()).value).toBe("running");
    child.process.kill("SIGKILL");
    await child.ended();
    await eventually("ten processes carry the tag", async () => (await countTagged(tag)) === 10);
    const reaped = await reapTagged(tag, { graceMs: 200 });
    expect(reaped.remaining).toEqual([]);
    expect(reaped.ended).toBeGreaterThanOrEqual(10);
    expect(await countTagged(tag)).toBe(0);
    expect(await reapTagged(tag)).toEqual({ ended: 0, remaining: [] });
  });

  sizedTest.each(
    proofCases(
      [
        ["SIGTERM", "", "SIGTERM"],
        ["SIGINT", "", "SIGINT"],
        ["SIGHUP", "", "SIGHUP"],
        ["", "exit", 5],
        ["", "throw", 1],
      ] as const,
      2,
    ),
  )("the processes of a supervisor end with it: %s %s", async (signal, mode, end) => {
    const tag = freshTag();
    const child = startChild(supervisor, [tag, mode]);
    await child.lines.next();
    if (signal) child.process.kill(signal);
    expect(await child.ended()).toBe(end);
    // A process that exits at once cannot wait until its killed children are gone.
    await expect.poll(() => countTagged(tag)).toBe(0);
    if (mode === "throw") expect(child.errors()).toContain("Error: nobody catches this");
  });
});

describe("tagged processes", () => {
  test("processes are found by the beginning of their tag, and no others", async () => {
    const tag = freshTag();
    const start = (name: string) => startCommand({ command: "sleep", args: ["600"], tag: name });
    const commands = await Promise.all([start(`${tag}.a`), start(`${tag}.b`), start(tag)]);
    expect(await countTagged(`${tag}.a`)).toBe(1);
    expect((await findTagged({ prefix: `${tag}.` })).map(({ pid }) => pid).sort()).toEqual(
      commands
        .slice(0, 2)
        .map(({ identity }) => identity.pid)
        .sort(),
    );
    expect(await reapTagged({ prefix: tag })).toEqual({ ended: 3, remaining: [] });
    await Promise.all(commands.map((command) => command.ended));
  });

  test("an empty tag is refused", async () => {
    await expect(findTagged({ prefix: "" })).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
  });

  test("zombies are not listed as tagged processes", async () => {
    const tag = freshTag();
    // The shell becomes a sleep, which never waits for its inherited child.
    const command = await startCommand({ ...shell("sh -c 'exit 0' & exec sleep 600"), tag });
    await eventually("no zombie carries the tag", async () =>
      (await findTagged(tag)).every(({ state }) => state !== "zombie"),
    );
    await eventually("one process carries the tag", async () => (await countTagged(tag)) === 1);
    command.stop();
    await command.ended;
  });

  test("a process that searches a tag lists neither itself nor its threads", async () => {
    const code = `
      import { findTagged, reapTagged } from ${JSON.stringify(new URL("../../../src/tasks/process/tagged.ts", import.meta.url).href)};
      import { spawn } from "node:child_process";
      import { once } from "node:events";
      import { Worker } from "node:worker_threads";
      const child = spawn("sleep", ["600"]);
      // Threads have numbers like processes; these are the youngest.
      for (let i = 0; i < 3; i++) await once(new Worker("setInterval(() => {}, 1000)", { eval: true }), "online");
      console.log((await reapTagged(process.env.LONGHAUL_TASK)).ended, child.pid > 0);
      process.exit();`;
    const tag = freshTag();
    let written = "";
    const command = await startCommand({
      command: process.execPath,
      args: ["--input-type=module", "-e", code],
      onLine: (line) => {
        written = line;
      },
      tag,
    });
    expect(await command.ended).toMatchObject({ exitCode: 0 });
    expect(written).toBe("1 true");
  });

  test("a tagged process is spared if its pid belongs to another process now", async () => {
    const bystander = spawn("sleep", ["600"], { stdio: "ignore" });
    const pid = bystander.pid ?? 0;
    const system = getSystemTable();
    const stale: ProcessTable = {
      ...system,
      // A stale list: a tagged process with that pid, which is gone by now.
      list: () => [
        { pid, born: "earlier", parent: 1, group: pid, state: "alive", tasks: ["gone"], runs: [] },
      ],
    };
    const reaped = await reapTagged("gone", { table: stale, graceMs: 10, killMs: 10 });
    expect(reaped.remaining).toEqual([{ pid, born: "earlier" }]);
    expect(bystander.exitCode ?? bystander.signalCode).toBe(null);
    expect(await isProcessAlive({ pid, born: "earlier" })).toBe(false);
    const identity = await identifyProcess(pid);
    expect(identity && (await isProcessAlive(identity))).toBe(true);
    bystander.kill("SIGKILL");
    await eventually("the process is gone", async () => !(identity && (await isProcessAlive(identity))));
  });
});

describe("the tables of processes", () => {
  test.each([
    ["proc", createProcTable],
    ["ps", () => createPsTable("linux")],
  ])("the process table %s finds the processes of a program and can end them", async (name, make) => {
    if (name === "proc" && process.platform !== "linux") return;
    const tag = freshTag();
    const table = make();
    const command = await startCommand({ ...shell("setsid sleep 600 & sleep 600"), tag, table });
    await eventually(
      "three processes are in the table",
      async () => (await findTagged(tag, table)).length === 3,
    );
    expect(await isProcessAlive(command.identity, table)).toBe(true);
    command.stop();
    expect(await command.ended).toMatchObject({ remaining: [] });
    expect(await findTagged(tag, table)).toEqual([]);
  });

  test("a system that lists no processes starts no program, and the task reports it", async () => {
    const table = createPsTable("linux", "no-such-ps");
    const folder = testFolder();
    const started = startCommand({ ...shell(`touch "${folder}/started"`), tag: freshTag(), table });
    await expect(started).rejects.toMatchObject({ code: "PROCESSES_HIDDEN" });
    await expect(reapTagged(freshTag(), { table })).rejects.toMatchObject({
      code: "PROCESSES_HIDDEN",
      details: { reason: "there is no ps" },
    });
    await using kernel = await openKernel({ path: ":memory:" });
    const input = { command: "touch", args: [`${folder}/started`] };
    const task = await kernel.tasks.start(commandAgent({ table }), input);
    const { state, outcome } = await task.wait();
    expect(state).toBe("failed");
    expect(JSON.stringify(outcome)).toContain("does not list its processes (");
    expect(readdirSync(folder)).toEqual([]);
  });

  test("the process table ps reads a line of macOS with its environment", () => {
    const line =
      "  812   1   812 Ss   Sun Nov  5 09:45:51 2026     node a.js HOME=/people/a LONGHAUL_TASK=t1 LONGHAUL_RUNS=t0#a,t1#b X=1";
    expect(parsePsLine(line)).toEqual({
      pid: 812,
      parent: 1,
      group: 812,
      born: "Sun Nov 5 09:45:51 2026",
      state: "alive",
      tasks: ["t0", "t1"],
      runs: ["a", "b"],
    });
    expect(parsePsLine("nonsense")).toBeUndefined();
  });
});
