import type { SessionId } from "../../../model/entry.ts";
import { LonghaulError } from "../../../model/errors.ts";
import type { AppendOutcome, AppendRequest } from "../../entry-store.ts";
import { createSessionNotFound } from "../../refusals.ts";
import type { BlobReferences } from "../blobs/blob-references.ts";
import type { PostgresDatabase, Transaction } from "../connection/postgres-database.ts";
import { createRetry } from "../connection/postgres-error.ts";
import type { LogHead, LogHeads } from "../heads/log-heads.ts";
import type { PostgresIntakes } from "../records/postgres-intakes.ts";
import { applyTask, checkTask, type SendTask } from "../records/task-writes.ts";
import type { AppendAttempt, AppendCall } from "./append-call.ts";
import { checkPosition } from "./check-position.ts";
import type { EntryPlan } from "./entry-plan.ts";
import type { PostgresDrafts } from "./postgres-drafts.ts";
import type { PostgresSessions } from "./postgres-sessions.ts";

/** Tables other than entries that an append writes to. */
export interface FullAppendDeps {
  readonly heads: LogHeads;
  readonly sessions: PostgresSessions;
  readonly drafts: PostgresDrafts;
  readonly references: BlobReferences;
  readonly intakes: PostgresIntakes;
  readonly sendTask: SendTask;
}

/** The state of one transaction that appends. */
interface RunningAppend {
  readonly transaction: Transaction;
  readonly heads: Map<SessionId, LogHead>;
  readonly plan: EntryPlan;
  readonly blobs: { session: number; seq: number; digests: readonly string[] }[];
}

/** Executes the open requests of a call in one transaction, repeated until its outcome is known. */
export async function runFullAppend(
  db: PostgresDatabase,
  deps: FullAppendDeps,
  call: AppendCall,
): Promise<void> {
  let attempt: AppendAttempt | undefined;
  const heads = await db.transact(
    async (transaction) => {
      attempt = undefined;
      const ids = [...new Set(call.open.map(([, { session }]) => session))];
      const running: RunningAppend = {
        transaction,
        heads: await deps.heads.lock(transaction, ids),
        plan: call.createPlan(),
        blobs: [],
      };
      await call.settleSuspects(transaction);
      const outcomes = new Map<number, { outcome: AppendOutcome }>();
      for (const [index, request] of call.open)
        outcomes.set(index, { outcome: await appendOrRefuse(deps, running, request) });
      attempt = { plan: running.plan, outcomes, isWhole: true };
      await writePlan(deps, running);
      return running.heads;
    },
    { onUnknown: () => attempt && call.suspect(attempt) },
  );
  if (attempt) call.settle(attempt, new Set());
  for (const [id, head] of heads) deps.heads.remember(id, head);
}

async function appendOrRefuse(
  deps: FullAppendDeps,
  running: RunningAppend,
  request: AppendRequest,
): Promise<AppendOutcome> {
  try {
    return await append(deps, running, request);
  } catch (error) {
    if (error instanceof LonghaulError) return error;
    throw error;
  }
}

/** Checks every reason for refusal before the first write, so that a refused request changes nothing. */
async function append(deps: FullAppendDeps, running: RunningAppend, request: AppendRequest) {
  const { transaction, plan } = running;
  const { intake, task, finishes } = request;
  await deps.references.requireAll(transaction, [
    ...new Set(request.entries.flatMap(({ blobs }) => blobs ?? [])),
  ]);
  if (finishes !== undefined) await deps.drafts.require(transaction, finishes);
  const checkedTask = task && (await checkTask(transaction, task));
  const intakeNumber = intake && (await deps.intakes.require(transaction, intake.name, intake.stamp));
  const head = await findHead(deps, running, request);
  const appended = plan.add(request, head);
  for (const [index, { blobs }] of request.entries.entries())
    if (blobs?.length)
      running.blobs.push({ session: head.number, seq: appended.firstSeq + index, digests: blobs });
  if (finishes !== undefined) await deps.drafts.finish(transaction, finishes);
  await deps.references.release(transaction, request.holds ?? []);
  if (intake) await deps.intakes.take(transaction, intakeNumber as number, intake, appended.firstSeq);
  if (checkedTask) await applyTask(transaction, checkedTask, head.number, appended.firstSeq, deps.sendTask);
  return appended;
}

/** The locked head of a request's session, which is created if the request says so. */
async function findHead(
  deps: FullAppendDeps,
  { transaction, heads }: RunningAppend,
  request: AppendRequest,
): Promise<LogHead> {
  const known = heads.get(request.session);
  checkPosition(request, known ?? { seq: 0 });
  if (known) return known;
  if (request.create) await deps.sessions.openWithin(transaction, request.create);
  const made = (await deps.heads.lock(transaction, [request.session])).get(request.session);
  if (!made) throw createSessionNotFound(request.session);
  // Made by someone else meanwhile, perhaps with entries.
  checkPosition(request, made);
  heads.set(request.session, made);
  return made;
}

async function writePlan(deps: FullAppendDeps, { transaction, plan, blobs }: RunningAppend): Promise<void> {
  const moved = await plan.write(transaction.writing);
  if (moved.size !== plan.sessions.length) throw createRetry("A locked head has moved");
  await deps.references.addOfEntries(transaction, blobs);
}
