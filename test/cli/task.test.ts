import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { eventually } from "../support/eventually.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { countTagged, freshTag } from "../tasks/process/family.ts";
import { makeRepository } from "../tasks/worktree/repository.ts";
import { jsonHere, runHere } from "./support/here.ts";
import { runProgram } from "./support/program.ts";
import { noticesOf, supervisorOf, taskWorld } from "./support/tasks.ts";

/** A program with grandchildren that leave its session or ignore SIGTERM. */
const FAMILY = "sh -c 'setsid sleep 600 & sleep 600' & trap '' TERM; echo started; while :; do sleep 1; done";

describe("longhaul task", () => {
  test("longhaul task lists its subcommands, and prints the help of each", async () => {
    const { code, stdout } = await runHere(["task"]);
    expect(code).toBe(0);
    for (const word of ["run", "list", "show", "output", "attach", "detach", "kill", "gc"]) {
      expect(stdout).toContain(`  task ${word} `);
      const help = await runHere(["task", word, "--help"]);
      expect(help.stdout).toContain(`Usage: longhaul task ${word}`);
      expect(await runHere(["help", "task", word])).toEqual(help);
    }
    expect(stdout).not.toContain("supervise");
    expect(await runHere(["task", "--help"])).toEqual(await runHere(["help", "task"]));
  });

  test("longhaul task suggests the nearest command, and names the wrong option", async () => {
    expect(await runHere(["task", "lst"])).toMatchObject({
      code: 2,
      stderr: 'longhaul: there is no command "task lst"; did you mean task list? See "longhaul help task".\n',
    });
    expect((await runHere(["task", "list", "--stat", "running"])).stderr).toBe(
      'longhaul: task list has no option --stat; did you mean --state? See "longhaul help task list".\n',
    );
    expect((await runProgram(["task", "supervise"])).stderr).toContain("use longhaul task run");
  });

  test("longhaul task finds a task by a part of its id, and lists near or matching ids", async () => {
    const store = await storeWithTasks();
    const show = (id: string) => runHere(["task", "show", id, "--store", store]);
    expect((await show("review-a")).stdout).toContain("title    Look at a.ts");
    expect((await show("w-a")).code).toBe(0);
    expect(await show("reviev-a")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Did you mean review-a, review-b?"),
    });
    expect(await show("review")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("matches several tasks: review-"),
    });
    expect(await show("")).toMatchObject({ code: 2, stderr: expect.stringContaining("name a task") });
    const { code, value } = await jsonHere(["task", "show", "nothing-like-it", "--store", store]);
    expect([code, value.error.code]).toEqual([1, "TASK_NOT_FOUND"]);
    expect((await runHere(["task", "list", "--store", testFolder()])).stderr).toContain(
      "There is no store at",
    );
  });

  test("longhaul task list shows state, title and owner of tasks, and filters them by state and session", async () => {
    const store = await storeWithTasks();
    const { stdout } = await runHere(["task", "list", "--store", store]);
    expect(stdout.split("\n")[0]).toMatch(/^task +state +started +took +run by +title$/);
    expect(stdout).toMatch(/review-a +completed +just now +0 s +Look at a\.ts/);
    expect(stdout).toMatch(/review-b +failed \(error\)/);
    expect(stdout).toMatch(/waiting +queued +just now +0 s +no process +later/);
    const ids = async (...args: string[]) =>
      (await jsonHere(["task", "list", "--store", store, ...args])).value.tasks.map(
        ({ id }: { id: string }) => id,
      );
    expect(await ids("--state", "queued,failed")).toEqual(["waiting", "review-b"]);
    expect(await ids("--session", "review-a")).toEqual(["review-a"]);
    expect(await ids("--limit", "1")).toEqual(["waiting"]);
    expect((await runHere(["task", "list", "--state", "runing", "--store", store])).stderr).toContain(
      "did you mean running?",
    );
  });

  test("longhaul task output continues where the reader stopped", async () => {
    const store = await storeWithTasks();
    expect((await runHere(["task", "output", "review-a", "--store", store])).stdout).toBe(
      "reading\nassistant: It is fine.\n",
    );
    const { value } = await jsonHere(["task", "output", "review-a", "--store", store]);
    expect(value).toMatchObject({ task: "review-a", state: "completed", next: 5 });
    const rest = await jsonHere(["task", "output", "review-a", "--since", "3", "--store", store]);
    expect(rest.value.entries.map(({ seq }: { seq: number }) => seq)).toEqual([4, 5]);
    const late = await runHere(["task", "output", "waiting", "-f", "--timeout", "50ms", "--store", store]);
    expect(late).toMatchObject({ code: 0, stdout: "" });
  });

  proofTest(
    "longhaul task kill ends a whole family from another process, once, and keeps its output",
    async () => {
      const world = taskWorld();
      const id = freshTag();
      await world.task("run", "-b", "--id", id, "--", "sh", "-c", FAMILY);
      await world.untilItSays(id, "started");
      await eventually("the whole family runs", async () => (await countTagged(id)) > 3);
      const attached = world.begin("attach", id);
      await attached.says("started");
      const first = await world.task("kill", id.slice(0, -1), "--reason", "changed my mind");
      expect(first).toMatchObject({ code: 0, stdout: `${id} killed (changed my mind)\n` });
      expect(await countTagged(id)).toBe(0);
      expect((await attached.ended).code).toBe(137);
      expect((await world.task("kill", id)).stdout).toBe(
        `${id} had already ended: killed (changed my mind)\n`,
      );
      expect((await world.task("kill", "--all")).stdout).toBe("No task is running.\n");
      expect(await noticesOf(world.store, id)).toMatchObject([
        { state: "killed", reason: "changed my mind" },
      ]);
    },
  );

  proofTest("Ctrl-C ends longhaul task attach, and the task continues", async () => {
    const world = taskWorld();
    const id = freshTag();
    await world.task("run", "-b", "--id", id, "--", "sh", "-c", FAMILY);
    const attached = world.begin("attach", id);
    await attached.says("started");
    attached.process.kill("SIGINT");
    const { code, stderr } = await attached.ended;
    expect([code, stderr]).toEqual([130, expect.stringContaining(`task ${id} continues`)]);
    expect((await world.details(id)).status.state).toBe("running");
    expect(await world.json("kill", "--all")).toMatchObject({
      killed: [{ task: id, isEnded: true, isChanged: true }],
    });
  });

  proofTest(
    "longhaul task gc ends the tasks of a killed supervisor with one notice each, and removes empty worktrees",
    async () => {
      const repository = makeRepository();
      const env = { GIT_CONFIG_GLOBAL: process.env.GIT_CONFIG_GLOBAL ?? "", GIT_CONFIG_NOSYSTEM: "1" };
      const world = taskWorld({ cwd: repository.path, env });
      const [idle, busy] = [freshTag(), freshTag()];
      const run = ["run", "-b", "--isolation", "worktree", "--id"];
      await world.task(...run, idle, "--", "sh", "-c", FAMILY);
      await world.task(...run, busy, "--", "sh", "-c", `echo work > new.txt; ${FAMILY}`);
      for (const id of [idle, busy]) await world.untilItSays(id, "started");
      const supervisors = [supervisorOf(await world.details(idle)), supervisorOf(await world.details(busy))];
      // Both at once: a supervisor that is alive would reap the task of the dead one.
      for (const pid of supervisors) process.kill(pid, "SIGKILL");
      await eventually(
        "nobody owns the two tasks",
        async () => !(await world.details(idle)).isOwned && !(await world.details(busy)).isOwned,
      );
      const listed = await world.task("list");
      expect([listed.stdout, listed.stderr]).toEqual([
        expect.stringContaining("is dead"),
        expect.stringContaining('"longhaul task gc"'),
      ]);
      const planned = await world.task("gc", "--dry-run");
      expect(planned.stdout).toContain(`task ${idle}: its process is dead; it would fail (lost)`);
      expect(await countTagged(idle)).toBeGreaterThan(0);

      const { code, stdout } = await world.task("gc");
      expect([code, stdout]).toEqual([
        0,
        expect.stringContaining(`task ${idle}: its process is dead: failed (lost)`),
      ]);
      for (const id of [idle, busy]) {
        expect(await countTagged(id)).toBe(0);
        expect(await noticesOf(world.store, id)).toMatchObject([{ state: "failed", reason: "lost" }]);
      }
      const trees = repository.git("worktree", "list");
      expect([trees.includes(idle), trees.includes(busy)]).toEqual([false, true]);
      expect((await world.task("gc", "--older-than", "0s")).stdout).toContain(
        "kept, because it contains work: untracked",
      );
      expect(await noticesOf(world.store, idle)).toHaveLength(1);
    },
  );
});

/** A store with tasks of an agent: one completed, one failed, one waiting. */
async function storeWithTasks(): Promise<string> {
  const path = testFolder();
  await using kernel = await openKernel({ path });
  const review = async function* review({ input }: { readonly input: unknown }) {
    yield { type: "output", text: "reading\n" } as const;
    if (input === "b.ts") throw new Error("It cannot be read.");
    yield { type: "message", message: { role: "assistant", text: "It is fine." } } as const;
  };
  const a = await kernel.tasks.start(review, "a.ts", { id: "review-a", title: "Look at a.ts" });
  await a.wait();
  await (await kernel.tasks.start(review, "b.ts", { id: "review-b" })).wait();
  await kernel.tasks.start("later", null, { id: "waiting" });
  await kernel.tasks.cleaned();
  return path;
}
