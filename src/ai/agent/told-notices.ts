import type { AgentContext, Session, TaskNotice } from "../../index.ts";

const told = new WeakMap<object, Map<string, TaskNotice>>();

/** Notes that the result of a call tells of a notice, so that it is not told a second time. */
export function tellBy(context: AgentContext<Session>, callId: string, notice: TaskNotice): void {
  const calls = told.get(context) ?? new Map<string, TaskNotice>();
  told.set(context, calls.set(callId, notice));
}

/** The notices that the results of these calls tell of; forgotten with this. */
export function takeTold(context: AgentContext<Session>, callIds: readonly string[]): readonly TaskNotice[] {
  const calls = told.get(context);
  return callIds.flatMap((callId) => {
    const notice = calls?.get(callId);
    calls?.delete(callId);
    return notice ? [notice] : [];
  });
}
