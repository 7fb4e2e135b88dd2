import type { Census } from "../model/scope.ts";
import type { AfterStep, Isolation } from "./after-end.ts";
import { reapStep } from "./reap-step.ts";
import type { TaskOptions } from "./task-options.ts";
import { worktreeIsolation } from "./worktree-isolation.ts";

/** Adds the defaults of every kernel: the worktree isolation, and reaping of processes that a crash left running. */
export function withTaskDefaults(
  options: TaskOptions,
  census: Census,
): TaskOptions & {
  readonly repository: string;
  readonly isolations: Readonly<Record<string, Isolation>>;
  readonly afterEnd: readonly AfterStep[];
} {
  const { repository = process.cwd(), isolations, afterEnd = [] } = options;
  // Plans written by older versions may name no repository.
  const worktree = worktreeIsolation({
    repository: (plan) => plan.repository ?? repository,
    collects: [repository],
    census,
  });
  return {
    ...options,
    repository,
    isolations: { worktree, ...isolations },
    afterEnd: [reapStep({ after: "orphans" }), ...afterEnd],
  };
}
