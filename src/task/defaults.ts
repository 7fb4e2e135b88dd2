import type { Census } from "../model/scope.ts";
import type { AfterStep, Isolation } from "./after-end.ts";
import { checkCheckouts, findCheckout } from "./checkouts.ts";
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
  const { repository = process.cwd(), isolations, afterEnd = [], checkouts = {} } = options;
  checkCheckouts(checkouts);
  // Plans written by older versions may name no repository.
  const worktree = worktreeIsolation({
    repository: (plan) => {
      const named = plan.repository ?? repository;
      // A worker may be on another machine than the program that started the task.
      return plan.queue === undefined ? named : findCheckout(named, checkouts);
    },
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
