import type { CommandGroup } from "../command.ts";

/** Commands that run and manage tasks, in this and other processes. */
export const taskCommands: CommandGroup = {
  name: "task",
  summary: "run programs as tasks; follow, detach and kill them; clean up",
  about: `A task can be killed from any process, continues when its terminal closes, and ends exactly once, with one notice. Name a task by its id, or by any unique beginning or end of it.`,
  commands: {
    run: async () => (await import("./task/run.ts")).runTaskCommand,
    list: async () => (await import("./task/list.ts")).listTasksCommand,
    show: async () => (await import("./task/show.ts")).showTaskCommand,
    output: async () => (await import("./task/output.ts")).outputTaskCommand,
    attach: async () => (await import("./task/attach.ts")).attachTaskCommand,
    detach: async () => (await import("./task/detach.ts")).detachTaskCommand,
    kill: async () => (await import("./task/kill.ts")).killTaskCommand,
    gc: async () => (await import("./task/gc.ts")).collectTasksCommand,
    supervise: async () => (await import("./task/supervise.ts")).superviseCommand,
  },
  hidden: ["supervise"],
  examples: [
    "longhaul task run -- npm test",
    "longhaul task run --background -- ./bench.sh",
    "longhaul task list",
    "longhaul task attach bench-3f9a12cd",
    "longhaul task kill --all --reason 'going home'",
  ],
};
