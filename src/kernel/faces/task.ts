/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />

export type { TaskQuery, TaskRecord } from "../../log/store/task-store.ts";
export type { TaskPlan } from "../../model/task.ts";
export type { NoticeChannel } from "../../tasks/after-end.ts";
export { commandChannel, webhookChannel } from "../../tasks/channels/command-channel.ts";
export { type CommandInputJson, commandAgent } from "../../tasks/command-agent.ts";
export type { TaskDetails, TaskSketch } from "../../tasks/describe-task.ts";
export { cleanUpOnExit, processCleanups } from "../../tasks/process/cleanups.ts";
export { runCommand, startCommand } from "../../tasks/process/run-command.ts";
export { findTagged, listTagged, reapTagged } from "../../tasks/process/tagged.ts";
export { reapStep } from "../../tasks/reap-step.ts";
export type { TaskOptions } from "../../tasks/task-options.ts";
export type { OutputOptions, TaskEntry } from "../../tasks/task-output.ts";
export type { TaskWorker } from "../../tasks/task-worker.ts";
export type { WorkEvent, WorkOptions } from "../../tasks/work-options.ts";
export { type CollectStaleResult, collectStale } from "../../tasks/worktree/collect-stale.ts";
export { createWorktree } from "../../tasks/worktree/create-worktree.ts";
export { holdWorktree } from "../../tasks/worktree/hold-worktree.ts";
export { judgeWorktree } from "../../tasks/worktree/judge-worktree.ts";
export { type Removal, removeIfUnchanged } from "../../tasks/worktree/remove-worktree.ts";
export type { Worktree } from "../../tasks/worktree/worktree.ts";
export { worktreeIsolation } from "../../tasks/worktree-isolation.ts";
