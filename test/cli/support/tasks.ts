import type { TaskDetails } from "../../../src/kernel/faces/task.ts";
import { openKernel, type TaskNotice } from "../../../src/kernel/index.ts";
import { eventually } from "../../support/eventually.ts";
import { testFolder } from "../../support/folder.ts";
import { type Ended, type Running, runProgram, type Setting, startProgram } from "./program.ts";

/** The task commands on one store. */
export interface TaskWorld {
  readonly store: string;
  task(...args: string[]): Promise<Ended>;
  json(...args: string[]): Promise<ReturnType<typeof JSON.parse>>;
  begin(...args: string[]): Running;
  details(id: string): Promise<TaskDetails>;
  /** Waits until a task is in the log and its output contains the text. */
  untilItSays(id: string, text: string): Promise<void>;
}

/** Creates a store and runs the real program on it. */
export function taskWorld(setting: Setting = {}, store = testFolder()): TaskWorld {
  const env = { LONGHAUL_HOME: store, ...setting.env };
  const settings = { ...setting, env };
  const world: TaskWorld = {
    store,
    task: (...args) => runProgram(["task", ...args], settings),
    json: async (...args) => {
      const end = args.indexOf("--");
      const options = end === -1 ? args : args.slice(0, end);
      const rest = end === -1 ? [] : args.slice(end);
      return JSON.parse((await world.task(...options, "--json", ...rest)).stdout);
    },
    begin: (...args) => startProgram(["task", ...args], settings),
    details: (id) => withTasks(store, (tasks) => tasks.describe(id)),
    untilItSays: (id, text) =>
      eventually(`the task ${id} says ${text}`, () =>
        withTasks(store, async (tasks) => {
          for await (const entry of tasks.output(id))
            if (entry.kind === "task" && entry.note.type === "output" && entry.note.text.includes(text))
              return true;
          return false;
        }).catch(() => false),
      ),
  };
  return world;
}

/** The notices of a task in its session's log. */
export async function noticesOf(store: string, id: string): Promise<readonly TaskNotice[]> {
  await using kernel = await openKernel({ path: store });
  await using session = await kernel.session(id);
  const entries = await session.read({ from: 1, limit: 1_000, kinds: ["task"] });
  return entries.flatMap((entry) =>
    entry.kind === "task" && entry.note.type === "notice" ? [entry.note.notice] : [],
  );
}

async function withTasks<T>(
  path: string,
  use: (tasks: Awaited<ReturnType<typeof openKernel>>["tasks"]) => Promise<T>,
): Promise<T> {
  await using kernel = await openKernel({ path });
  return await use(kernel.tasks);
}

/** The pid of a task's supervisor. */
export function supervisorOf({ status }: TaskDetails): number {
  return Number(status.owner?.split("|")[1]);
}
