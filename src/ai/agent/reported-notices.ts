import type { AgentContext, Session, TaskNotice } from "../../index.ts";

const reportedNotices = new WeakMap<object, Map<string, TaskNotice>>();

/** Records that the result of a call reports a notice, so that it is not reported again. */
export function recordReportedNotice(
  context: AgentContext<Session>,
  callId: string,
  notice: TaskNotice,
): void {
  const calls = reportedNotices.get(context) ?? new Map<string, TaskNotice>();
  reportedNotices.set(context, calls.set(callId, notice));
}

/** Returns and removes the notices that the results of these calls report. */
export function takeReportedNotices(
  context: AgentContext<Session>,
  callIds: readonly string[],
): readonly TaskNotice[] {
  const calls = reportedNotices.get(context);
  return callIds.flatMap((callId) => {
    const notice = calls?.get(callId);
    calls?.delete(callId);
    return notice ? [notice] : [];
  });
}
