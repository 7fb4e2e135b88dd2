import type { Log } from "../log/log.ts";
import type { SessionId } from "../model/entry.ts";
import type { Scope } from "../model/scope.ts";
import type { AgentContext } from "./agent.ts";
import type { AgentDriver } from "./agent-driver.ts";
import type { Fence } from "./fenced-log.ts";
import type { TaskRun } from "./task-run.ts";

/** Dependencies of `buildAgentContext`. */
export interface AgentContextDeps<OpenedSession> {
  readonly log: Log;
  readonly openSession: (id: SessionId, scope: Scope, fence: Fence) => Promise<OpenedSession>;
  readonly startChild: (
    run: TaskRun<OpenedSession>,
    shell: AgentDriver,
  ) => AgentContext<OpenedSession>["start"];
}

/** Builds the context of one agent call. */
export function buildAgentContext<OpenedSession>(
  { log, openSession, startChild }: AgentContextDeps<OpenedSession>,
  run: TaskRun<OpenedSession>,
  shell: AgentDriver,
  tag: string,
): AgentContext<OpenedSession> {
  const { task, progress: memory, cause } = run;
  let session: Promise<OpenedSession> | undefined;
  return {
    task: task.id,
    tag,
    input: memory.plan?.input ?? null,
    cause,
    mode: task.mode,
    ...(memory.checkpoint !== undefined && { checkpoint: memory.checkpoint }),
    ...(memory.place !== undefined && { place: memory.place }),
    signal: shell.signal,
    scope: shell.scope,
    session: () => {
      const fence = { task: task.id, epoch: () => shell.epoch };
      session ??= openSession(task.session, shell.scope, fence).catch((error) => {
        // Try again next time: the store may only have been busy.
        session = undefined;
        throw error;
      });
      return session;
    },
    spent: () => run.progress.spent,
    start: startChild(run, shell),
    children: () => log.store.tasks.list({ parent: task.id, limit: 1_000 }),
  };
}
