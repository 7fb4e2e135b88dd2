import { isLonghaulError, throwIfAborted } from "../../model/errors.ts";
import type { TaskId } from "../../model/task.ts";
import type { Store } from "../../store/store.ts";
import type { TaskRecord } from "../../store/task-store.ts";

const PAGE = 1_000;

/** Copies foreign sources with their records; unchanged ones are skipped. Returns their number. */
export async function moveIntakes(from: Store, to: Store, signal: AbortSignal | undefined): Promise<number> {
  const [source, target] = [from.transfer, to.transfer];
  if (!source || !target) return 0;
  let count = 0;
  for (let after = ""; ; ) {
    const page = await source.intakes({ after, limit: PAGE });
    for (const intake of page) {
      throwIfAborted(signal);
      after = intake.name;
      // Made after its session was copied; the next run has it.
      if (!(await to.sessions.get(intake.session))) continue;
      count++;
      const known = await to.intakes.get(intake.name);
      if (known?.stamp === intake.stamp) continue;
      for (let last = ""; ; ) {
        const records = await source.records(intake.name, { after: last, limit: PAGE });
        await target.putRecords(intake, records);
        if (records.length < PAGE) break;
        last = records.at(-1)?.id ?? last;
      }
      // Last, so that a move that was stopped begins with this source again.
      await target.putIntake(intake);
    }
    if (page.length < PAGE) return count;
  }
}

/** Copies tasks, oldest first; unchanged ones are skipped. Returns their number. */
export async function moveTasks(from: Store, to: Store, signal: AbortSignal | undefined): Promise<number> {
  if (!to.transfer) return 0;
  const ids: TaskId[] = [];
  for (let before: TaskId | undefined; ; ) {
    const page: readonly TaskRecord[] = await from.tasks.list({
      limit: PAGE,
      ...(before !== undefined && { before }),
    });
    for (const { id } of page) ids.push(id);
    if (page.length < PAGE) break;
    before = page.at(-1)?.id;
  }
  let count = 0;
  for (const id of ids.reverse()) {
    throwIfAborted(signal);
    const task = await from.tasks.get(id);
    if (!task) continue;
    const known = await to.tasks.get(id);
    if (JSON.stringify(known) !== JSON.stringify(task)) {
      try {
        await to.transfer.putTask(task);
      } catch (error) {
        // Its session was made after the sessions were copied; the next run has it.
        if (!isLonghaulError(error, "SESSION_NOT_FOUND")) throw error;
        continue;
      }
    }
    count++;
  }
  return count;
}

/** Copies people, budgets and the audit log, whose entries the target adds to those that it has. */
export async function moveTeam(from: Store, to: Store): Promise<void> {
  if (!from.transfer || !to.transfer) return;
  let known = 0;
  for (;;) {
    const page = await to.audit.list({ after: known, limit: PAGE });
    known = page.at(-1)?.seq ?? known;
    if (page.length < PAGE) break;
  }
  await to.transfer.putTeam(await from.transfer.team(known));
}
