import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { runCommand, startCommand } from "../../../src/tasks/process/run-command.ts";
import { getSystemTable } from "../../../src/tasks/process/system-table.ts";
import { testFolder } from "../../support/folder.ts";
import { proofTest } from "../../support/proof.ts";
import { countTagged, freshTag, script, shell } from "./family.ts";

describe("a program of a task", () => {
  test("a program of a task returns its exit code and output", async () => {
    const end = await runCommand({ ...shell("echo out; echo err >&2; exit 3"), tag: freshTag() });
    expect(end).toMatchObject({ reason: "exited", exitCode: 3, signal: undefined, isOutputCut: false });
    expect([end.stdout, end.stderr]).toEqual(["out\n", "err\n"]);
  });

  test("the output of a program is kept even if the program ends before the process table shows it", async () => {
    const real = getSystemTable();
    const look = async (pid: number) => {
      if (pid === process.pid) return real.look(pid);
      await expect.poll(() => real.look(pid)).toBeUndefined();
      await sleep(20);
      return undefined;
    };
    const table = { ...real, look };
    const heard: string[] = [];
    const end = await runCommand({
      ...shell("echo out; echo err >&2; exit 3"),
      tag: freshTag(),
      table,
      onOutput: (chunk, stream) => void heard.push(`${stream} ${Buffer.from(chunk)}`),
    });
    expect(end).toMatchObject({ exitCode: 3, stdout: "out\n", stderr: "err\n", isOutputCut: false });
    expect(heard.sort()).toEqual(["stderr err\n", "stdout out\n"]);
  });

  test("a program is ended, without an unhandled error of a timer, if the process table cannot be read", async () => {
    let looks = 0;
    const list = () => {
      looks++;
      throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
    };
    const table = { ...getSystemTable(), list };
    const tag = freshTag();
    const command = await startCommand({ ...shell("sleep 600 & sleep 600"), tag, table, graceMs: 50 });
    await expect.poll(() => looks).toBeGreaterThan(0);
    command.stop();
    expect(await command.ended).toMatchObject({ reason: "aborted" });
    await expect.poll(() => countTagged(tag)).toBe(0);
    const short = await runCommand({
      ...shell("echo done"),
      tag: freshTag(),
      table,
      lingerMs: 50,
      graceMs: 50,
    });
    expect(short).toMatchObject({ reason: "exited", exitCode: 0, stdout: "done\n" });
  });

  test("the signal that ended a program is reported", async () => {
    const end = await runCommand({ ...shell("kill -9 $$"), tag: freshTag() });
    expect(end).toMatchObject({ reason: "exited", exitCode: undefined, signal: "SIGKILL" });
  });

  test("a program reads its input, and may leave it unread", async () => {
    const text = await runCommand({ command: "cat", input: "grüße", tag: freshTag() });
    expect(text.stdout).toBe("grüße");
    async function* pieces() {
      yield "one ";
      yield new TextEncoder().encode("two");
    }
    expect((await runCommand({ command: "cat", input: pieces(), tag: freshTag() })).stdout).toBe("one two");
    const unread = await runCommand({ command: "true", input: "x".repeat(1_000_000), tag: freshTag() });
    expect(unread.exitCode).toBe(0);
  });

  test("a program sees the id of its task and the given environment", async () => {
    const tag = freshTag();
    const { stdout } = await runCommand({
      ...script(
        "const { LONGHAUL_TASK, GIVEN, LANG } = process.env; console.log(LONGHAUL_TASK, GIVEN, LANG)",
      ),
      env: { GIVEN: "yes", LANG: undefined },
      tag,
    });
    expect(stdout).toBe(`${tag} yes undefined\n`);
  });

  test("a missing program or folder is a typed error", async () => {
    await expect(runCommand({ command: "no-such-program", tag: freshTag() })).rejects.toMatchObject({
      code: "PROGRAM_NOT_STARTED",
      details: { command: "no-such-program", reason: "ENOENT" },
    });
    await expect(runCommand({ command: "true", cwd: "/no/such/folder", tag: freshTag() })).rejects.toThrow(
      /folder "\/no\/such\/folder" does not exist/,
    );
    await expect(runCommand({ command: "true", tag: "a tag" })).rejects.toMatchObject({
      code: "ARGUMENT_INVALID",
    });
    const signal = AbortSignal.abort();
    await expect(runCommand({ command: "true", tag: freshTag(), signal })).rejects.toMatchObject({
      code: "ABORTED",
    });
  });
});

describe("output", () => {
  test("output is passed on in lines of whole characters, including a last line without a line end", async () => {
    const lines: string[] = [];
    await runCommand({
      ...script(
        `const bytes = Buffer.from("grüße\\r\\nzwei\\n\\ndrei");
         for (const byte of bytes) require("fs").writeSync(1, Buffer.from([byte]))`,
      ),
      onLine: (line, stream) => void lines.push(`${stream} ${line}`),
      tag: freshTag(),
    });
    expect(lines).toEqual(["stdout grüße", "stdout zwei", "stdout ", "stdout drei"]);
  });

  test("output waits for a slow listener, loses nothing, and is passed on one chunk at a time", async () => {
    let bytes = 0;
    let isBusy = false;
    const end = await runCommand({
      ...shell("head -c 400000 /dev/zero; head -c 100000 /dev/zero >&2"),
      onOutput: async (chunk) => {
        expect(isBusy).toBe(false);
        isBusy = true;
        await sleep(2);
        isBusy = false;
        bytes += chunk.length;
      },
      keepBytes: 1_000,
      tag: freshTag(),
    });
    expect(bytes).toBe(500_000);
    expect(end.stdout.length).toBe(1_000);
    expect(end.outputBytes).toBe(500_000);
  });

  test("the kept end of a long output is cut between characters", async () => {
    const end = await runCommand({
      ...script(`process.stdout.write("ü".repeat(100_000))`),
      keepBytes: 1_001,
      tag: freshTag(),
    });
    expect(end.stdout).toBe("ü".repeat(500));
  });

  test("endless output is stopped by its limit", async () => {
    const end = await runCommand({ command: "yes", maxOutputBytes: 300_000, tag: freshTag() });
    expect(end.reason).toBe("output");
    expect(end.outputBytes).toBeGreaterThan(300_000);
    expect(end.stdout.length).toBeLessThanOrEqual(64 * 1024);
  });

  test("endless output is stopped by a deadline even if its listener hangs", async () => {
    const tag = freshTag();
    const end = await runCommand({
      command: "yes",
      onOutput: () => new Promise(() => {}),
      deadlineMs: 500,
      drainMs: 50,
      tag,
    });
    expect(end).toMatchObject({ reason: "deadline", isOutputCut: true });
    expect(await countTagged(tag)).toBe(0);
  });

  test("a failing listener to the output ends the program, and its error is reported", async () => {
    const tag = freshTag();
    const onLine = () => {
      throw new Error("no room");
    };
    await expect(runCommand({ command: "yes", onLine, tag })).rejects.toThrow("no room");
    expect(await countTagged(tag)).toBe(0);
  });
});

describe("the end of a run", () => {
  test("abort ends a process that ignores SIGTERM", async () => {
    const tag = freshTag();
    const controller = new AbortController();
    const command = await startCommand({
      ...script(`process.on("SIGTERM", () => {}); console.log("ready"); setInterval(() => {}, 1000)`),
      onLine: () => controller.abort(),
      signal: controller.signal,
      graceMs: 50,
      tag,
    });
    const end = await command.ended;
    expect(end).toMatchObject({ reason: "aborted", signal: "SIGKILL", remaining: [] });
    expect(end.stdout).toBe("ready\n");
    expect(await countTagged(tag)).toBe(0);
  });

  test("stop lets a process that handles SIGTERM end by itself", async () => {
    const command = await startCommand({
      ...shell('trap "echo bye; exit 7" TERM; echo ready; while :; do sleep 0.05; done'),
      onLine: (line) => {
        if (line === "ready") command.stop();
      },
      graceMs: 10_000,
      tag: freshTag(),
    });
    expect(await command.ended).toMatchObject({ reason: "aborted", exitCode: 7, stdout: "ready\nbye\n" });
    command.stop();
  });

  test("the end of a run also ends orphaned grandchildren in other sessions", async () => {
    const tag = freshTag();
    const child = `require("child_process").spawn("sleep", ["600"], { detached: true, stdio: "ignore" }).unref()`;
    const end = await runCommand({
      ...script(
        `const { spawnSync, spawn } = require("child_process");
         spawnSync(process.execPath, ["-e", ${JSON.stringify(child)}], { detached: true });
         spawn("sleep", ["600"], { detached: true, stdio: "ignore" }).unref();`,
      ),
      lingerMs: 0,
      tag,
    });
    expect(end).toMatchObject({ reason: "exited", exitCode: 0, remaining: [] });
    expect(await countTagged(tag)).toBe(0);
  });

  test("the end of a run waits for processes that are still writing", async () => {
    const end = await runCommand({ ...shell("(sleep 0.1; echo late) &"), lingerMs: 20_000, tag: freshTag() });
    expect(end.stdout).toBe("late\n");
  });

  test("the end of a run can leave other processes running, and does not wait for their output", async () => {
    const tag = freshTag();
    const end = await runCommand({ ...shell("sleep 600 & echo done"), leftovers: "keep", drainMs: 50, tag });
    expect(end).toMatchObject({ reason: "exited", stdout: "done\n", isOutputCut: true });
    expect(await countTagged(tag)).toBe(1);
  });

  proofTest(
    "the end of a run includes processes that dropped their environment, if they are in the group or were seen before",
    async () => {
      const tag = freshTag();
      const orphaned = Promise.withResolvers<void>();
      const command = await startCommand({
        ...shell("env -i sleep 602 & (env -i setsid sleep 602 & sleep 2; echo orphaned) & sleep 602"),
        onLine: () => orphaned.resolve(),
        tag,
      });
      await orphaned.promise;
      command.stop();
      expect(await command.ended).toMatchObject({ remaining: [] });
      const left = await runCommand({ ...shell("ps ax | grep 'sleep 60[2]' | wc -l"), tag: freshTag() });
      expect(left.stdout.trim()).toBe("0");
    },
  );

  test("the end of a run ends a process that forks in a loop", async () => {
    const tag = freshTag();
    const end = await runCommand({
      ...shell(
        `trap "" TERM; f() { while :; do (trap "" TERM; sleep 0.02; sleep 5) & sleep 0.005; done; }; f`,
      ),
      deadlineMs: 250,
      graceMs: 100,
      tag,
    });
    expect(end).toMatchObject({ reason: "deadline", remaining: [] });
    expect(await countTagged(tag)).toBe(0);
  });

  test.runIf(process.platform === "linux")(
    "the end of a run ends a process that keeps forking, changing its session and exiting",
    async () => {
      const folder = testFolder();
      const [file, steps] = [join(folder, "chain.sh"), join(folder, "steps")];
      writeFileSync(
        file,
        `trap "" TERM; echo >> ${steps}; [ $1 -gt 0 ] && setsid sh $0 $(($1 - 1)) > /dev/null 2>&1 &\n`,
      );
      writeFileSync(steps, "");
      const end = await runCommand({
        ...{ command: "sh", args: [file, "3000"], deadlineMs: 200, graceMs: 50, lingerMs: 100 },
        tag: freshTag(),
      });
      expect(end.remaining).toEqual([]);
      const count = readFileSync(steps).length;
      await sleep(200);
      expect(readFileSync(steps).length).toBe(count);
      expect(count).toBeLessThan(3_000);
    },
  );

  test("the end of a run spares other runs of the same task", async () => {
    const tag = freshTag();
    const other = await startCommand({ command: "sleep", args: ["600"], tag });
    await runCommand({ ...shell("setsid sleep 600 & true"), lingerMs: 0, tag });
    expect(await countTagged(tag)).toBe(1);
    other.stop();
    expect(await other.ended).toMatchObject({ signal: "SIGTERM" });
  });

  test("the end of a run includes the processes of a nested task", async () => {
    const [outer, inner] = [freshTag(), freshTag()];
    const module = new URL("../../../src/tasks/process/run-command.ts", import.meta.url);
    const command = await startCommand({
      command: process.execPath,
      args: [
        "--input-type=module",
        "-e",
        `import { startCommand } from ${JSON.stringify(module.href)};
         await startCommand({ command: "sleep", args: ["600"], tag: ${JSON.stringify(inner)} });
         process.kill(process.pid, "SIGKILL")`,
      ],
      lingerMs: 0,
      tag: outer,
    });
    expect(await command.ended).toMatchObject({ signal: "SIGKILL", remaining: [] });
    expect(await countTagged(inner)).toBe(0);
  });
});
