import type { CommandGroup } from "../cli-command.ts";

/** Commands that run and manage tasks, in this and other processes. */
export const taskCommands: CommandGroup = {
  name: "task",
  summary: "run programs as tasks; follow, detach and kill them; clean up",
  about: `A task can be killed from any process, continues when its terminal closes, and ends exactly once, with one notice. Name a task by its id, or by any unique beginning or end of it.`,
  commands: {
    run: async () => (await import("./task/run-task-command.ts")).runTaskCommand,
    list: async () => (await import("./task/list-tasks-command.ts")).listTasksCommand,
    show: async () => (await import("./task/list-tasks-command.ts")).showTaskCommand,
    output: async () => (await import("./task/output-task-command.ts")).outputTaskCommand,
    attach: async () => (await import("./task/output-task-command.ts")).attachTaskCommand,
    detach: async () => (await import("./task/kill-task-command.ts")).detachTaskCommand,
    kill: async () => (await import("./task/kill-task-command.ts")).killTaskCommand,
    gc: async () => (await import("./task/collect-tasks-command.ts")).collectTasksCommand,
    supervise: async () => (await import("./task/supervise-command.ts")).superviseCommand,
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
