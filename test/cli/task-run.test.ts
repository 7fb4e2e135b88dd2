import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { countTagged, freshTag } from "../tasks/process/family.ts";
import { makeRepository } from "../tasks/worktree/repository.ts";
import { supervisorOf, taskWorld } from "./support/tasks.ts";

/** A program with a child that leaves its session, and another that ignores SIGTERM. */
const FAMILY = "setsid sleep 600 & trap '' TERM; echo started; while :; do sleep 1; done";

describe("longhaul task run", () => {
  test("longhaul task run prints the output of the program, ends with its exit code, and stores both", async () => {
    const world = taskWorld();
    const id = freshTag();
    const { code, stdout, stderr } = await world.task(
      "run",
      "--id",
      id,
      "--",
      "sh",
      "-c",
      "echo out; echo trouble >&2; exit 7",
    );
    expect([code, stdout, stderr]).toEqual([7, "out\n", "trouble\n"]);
    expect((await world.details(id)).status).toMatchObject({
      state: "failed",
      outcome: { result: { exitCode: 7 } },
    });
    expect(await world.task("output", id)).toEqual({ code: 0, stdout, stderr });
  });

  proofTest("longhaul task run passes its input to the program", async () => {
    const world = taskWorld({ input: "one\ntwo\n" });
    const lines = await world.task("run", "--id", freshTag(), "--", "sh", "-c", "read line; cat; echo $line");
    expect(lines).toEqual({ code: 0, stdout: "two\none\n", stderr: "" });
    const unread = await world.task("run", "-b", "--id", freshTag(), "--", "cat");
    expect((await world.task("attach", unread.stdout.trim())).stdout).toBe("");
  });

  proofTest("longhaul task run gives each cause of a failure its own exit code", async () => {
    const world = taskWorld();
    const missing = await world.task("run", "--id", freshTag(), "--", "no-such-program");
    expect([missing.code, missing.stderr]).toEqual([
      127,
      expect.stringContaining("no such program on the PATH"),
    ]);
    const late = await world.task("run", "--id", freshTag(), "--deadline", "500ms", "--", "sleep", "600");
    expect([late.code, late.stderr]).toEqual([124, expect.stringContaining("(deadline)")]);
    const chatty = await world.task("run", "--id", freshTag(), "--max-output", "1k", "--", "yes");
    expect([chatty.code, chatty.stderr]).toEqual([125, expect.stringContaining("wrote more than it may")]);
    const signalled = await world.task("run", "--id", freshTag(), "--", "sh", "-c", "kill -SEGV $$");
    expect(signalled.code).toBe(139);
  });

  proofTest(
    "longhaul task run --background returns at once, and any process can follow the task to its end",
    async () => {
      const world = taskWorld();
      const folder = testFolder();
      const id = freshTag();
      const go = join(folder, "go");
      const code = `echo one; until test -e "${go}"; do sleep 0.1; done; echo two; exit 3`;
      const started = await world.task("run", "--background", "--id", id, "--", "sh", "-c", code);
      expect(started).toMatchObject({ code: 0, stdout: `${id}\n` });
      const attached = world.begin("attach", id);
      await attached.says("one");
      writeFileSync(go, "");
      expect(await attached.ended).toMatchObject({ code: 3, stdout: "one\ntwo\n" });
      const { notice, status } = await world.details(id);
      expect([status.mode, notice?.state]).toEqual(["background", "failed"]);
    },
  );

  proofTest("Ctrl-C kills the task and all processes that it started", async () => {
    const world = taskWorld();
    const id = freshTag();
    const running = world.begin("run", "--id", id, "--", "sh", "-c", FAMILY);
    await running.says("started");
    running.process.kill("SIGINT");
    expect((await running.ended).code).toBe(130);
    expect(await countTagged(id)).toBe(0);
    expect((await world.details(id)).status).toMatchObject({
      state: "killed",
      outcome: { reason: "interrupted" },
    });
  });

  proofTest("a foreground task ends with its terminal, even by SIGKILL", async () => {
    const world = taskWorld();
    const id = freshTag();
    const running = world.begin("run", "--id", id, "--", "sh", "-c", FAMILY);
    await running.says("started");
    running.process.kill("SIGKILL");
    await eventually("the task has its notice", async () => (await world.details(id)).notice !== undefined);
    expect((await world.details(id)).status.state).toBe("killed");
    expect(await countTagged(id)).toBe(0);
  });

  proofTest("longhaul task detach frees the terminal, and the task survives the terminal's end", async () => {
    const world = taskWorld();
    const folder = testFolder();
    const id = freshTag();
    const go = join(folder, "go");
    const code = `echo started; until test -e "${go}"; do sleep 0.1; done; echo done`;
    const running = world.begin("run", "--id", id, "--", "sh", "-c", code);
    await running.says("started");
    expect(await world.task("detach", id)).toMatchObject({
      code: 0,
      stdout: `${id} continues in the background\n`,
    });
    const freed = await running.ended;
    expect([freed.code, freed.stderr]).toEqual([
      0,
      expect.stringContaining(`${id} continues in the background`),
    ]);
    expect((await world.task("detach", id)).stdout).toBe(`${id} is already in the background\n`);
    expect((await world.details(id)).status).toMatchObject({ state: "running", mode: "background" });
    writeFileSync(go, "");
    expect(await world.task("attach", id)).toMatchObject({ code: 0, stdout: "started\ndone\n" });
  });

  proofTest(
    "a task whose supervisor is killed is reported as lost, and none of its processes survives",
    async () => {
      const world = taskWorld();
      const id = freshTag();
      const running = world.begin("run", "--id", id, "--", "sh", "-c", FAMILY);
      await running.says("started");
      process.kill(supervisorOf(await world.details(id)), "SIGKILL");
      const { code, stderr } = await running.ended;
      expect([code, stderr]).toEqual([125, expect.stringContaining("failed (lost)")]);
      expect(await countTagged(id)).toBe(0);
    },
  );

  proofTest(
    "longhaul task run --isolation worktree names the worktree that holds work, and removes one without changes",
    async () => {
      const repository = makeRepository();
      const env = { GIT_CONFIG_GLOBAL: process.env.GIT_CONFIG_GLOBAL ?? "", GIT_CONFIG_NOSYSTEM: "1" };
      const world = taskWorld({ cwd: repository.path, env });
      const [worked, idle] = [freshTag(), freshTag()];
      const isolated = ["run", "--isolation", "worktree", "--id"];
      const { code, stderr } = await world.task(...isolated, worked, "--", "sh", "-c", "echo work > new.txt");
      const path = `${repository.path}.worktrees/${worked}`;
      expect([code, stderr]).toEqual([0, expect.stringContaining(path)]);
      expect(readFileSync(join(path, "new.txt"), "utf8")).toBe("work\n");
      expect(existsSync(join(repository.path, "new.txt"))).toBe(false);
      expect((await world.task("show", worked)).stdout).toContain(`on the branch longhaul/${worked}`);
      expect((await world.task(...isolated, idle, "--", "true")).stderr).toContain("was removed");
      expect(existsSync(`${repository.path}.worktrees/${idle}`)).toBe(false);
    },
  );

  proofTest("longhaul task run sends the notice of the end to the given command", async () => {
    const world = taskWorld();
    const id = freshTag();
    const file = join(testFolder(), "notice.json");
    await world.task("run", "--id", id, "--notify-command", `cat > "${file}"`, "--", "true");
    await eventually(
      "the file holds a whole line",
      () => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"),
    );
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
      id: `${id}/ended`,
      task: id,
      state: "completed",
    });
  });

  proofTest(
    "longhaul task run reports a failed delivery, and does not repeat deliveries that succeeded",
    async () => {
      const world = taskWorld();
      const file = join(testFolder(), "told");
      const ways = ["--notify-command", `echo told >> "${file}"`, "--notify-webhook", "http://127.0.0.1:9/"];
      const { code, stderr } = await world.task("run", "--id", freshTag(), ...ways, "--", "true");
      expect([code, stderr]).toEqual([
        0,
        expect.stringMatching(/not delivered \(attempt 1\): --notify-webhook/),
      ]);
      expect(readFileSync(file, "utf8")).toBe("told\n");
    },
  );

  test("longhaul task run names missing and wrong arguments before anything runs", async () => {
    const world = taskWorld();
    const wrong = async (...args: string[]) => {
      const { code, stderr } = await world.task("run", ...args);
      expect(code).toBe(2);
      return stderr;
    };
    expect(await wrong()).toContain("name a program after --, as in longhaul task run -- npm test");
    expect(await wrong("--deadlin", "3m", "--", "true")).toContain("did you mean --deadline?");
    expect(await wrong("--deadline", "soon", "--", "true")).toContain("such as 90s, 10m, 2h or 1d");
    expect(await wrong("--isolation", "tree", "--", "true")).toContain("expected none or worktree");
    expect(await wrong("--notify-webhook", "nowhere", "--", "true")).toContain("http or https");
    expect(existsSync(join(world.store, "log.db"))).toBe(false);
  });
});
