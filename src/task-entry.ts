/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
export type { TaskPlan } from "./model/task.ts";
export { processCleanups } from "./process/cleanups.ts";
export { runCommand, startCommand } from "./process/run-command.ts";
export { findTagged, listTagged, reapTagged } from "./process/tagged.ts";
export type { TaskQuery, TaskRecord } from "./store/task-store.ts";
export type { NoticeChannel } from "./task/after-end.ts";
export { commandChannel, webhookChannel } from "./task/channels/command-channel.ts";
export { cleanUpOnExit } from "./task/clean-up-on-exit.ts";
export { type CommandInputJson, commandAgent } from "./task/command-agent.ts";
export type { TaskDetails, TaskSketch } from "./task/describe-task.ts";
export { reapStep } from "./task/reap-step.ts";
export type { TaskOptions } from "./task/task-options.ts";
export type { OutputOptions, TaskEntry } from "./task/task-output.ts";
export type { TaskWorker } from "./task/task-worker.ts";
export type { WorkEvent, WorkOptions } from "./task/work-options.ts";
export { worktreeIsolation } from "./task/worktree-isolation.ts";
export { type CollectStaleResult, collectStale } from "./worktree/collect-stale.ts";
export { createWorktree } from "./worktree/create-worktree.ts";
export { holdWorktree } from "./worktree/hold-worktree.ts";
export { judgeWorktree } from "./worktree/judge-worktree.ts";
export { type Removal, removeIfUnchanged } from "./worktree/remove-worktree.ts";
export type { Worktree } from "./worktree/worktree.ts";
