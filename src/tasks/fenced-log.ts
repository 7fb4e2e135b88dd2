import { type AppendExtras, Log, type LogDeps, NO_EXTRAS } from "../log/log.ts";
import type { ReadyBody } from "../log/spilled-parts.ts";
import type { Entry, EntryBody, SessionId } from "../model/entry.ts";
import { isLonghaulError } from "../model/errors.ts";
import type { TaskId } from "../model/task.ts";

/** Identifies the run that may write to a task, by its epoch. */
export interface Fence {
  readonly task: TaskId;
  /** Grows when the task gets a new owner or mode while the same agent call continues. */
  epoch(): number;
}

/**
 * The log as one agent call sees it: appends fail with TASK_CONFLICT once the task has ended or has another owner. A
 * message that was being written at that moment is still stored, as interrupted.
 */
export class FencedLog extends Log {
  readonly #fence: Fence;

  constructor(parts: LogDeps, fence: Fence) {
    super(parts);
    this.#fence = fence;
  }

  override append<Body extends EntryBody>(
    session: SessionId,
    items: readonly ReadyBody<Body>[],
    extras: AppendExtras = NO_EXTRAS,
  ): Promise<readonly Entry<Body>[]> {
    if (extras.task || items.every(isInterrupted)) return super.append(session, items, extras);
    return this.#writeFenced(items, extras, (fenced) => super.append(session, items, fenced));
  }

  override appendOne<Body extends EntryBody>(
    session: SessionId,
    item: ReadyBody<Body>,
    extras: AppendExtras = NO_EXTRAS,
  ): Promise<Entry<Body>> {
    if (extras.task || isInterrupted(item)) return super.appendOne(session, item, extras);
    return this.#writeFenced([item], extras, (fenced) => super.appendOne(session, item, fenced));
  }

  async #writeFenced<T>(
    items: readonly ReadyBody[],
    extras: AppendExtras,
    write: (extras: AppendExtras) => Promise<T>,
  ): Promise<T> {
    const { task: id } = this.#fence;
    for (;;) {
      const epoch = this.#fence.epoch();
      try {
        return await write({ ...extras, task: { id, expect: { epoch } }, retries: true });
      } catch (error) {
        if (isLonghaulError(error, "TASK_CONFLICT") && error.details.task === id) {
          // The task may be moving to the background within this call: the new epoch is known
          // after this event-loop turn.
          await new Promise((resolve) => setImmediate(resolve));
          if (this.#fence.epoch() !== epoch) continue;
        }
        if (!extras.retries) await this.releaseHolds(items.flatMap(({ holds }) => holds ?? []));
        throw error;
      }
    }
  }
}

function isInterrupted({ body }: ReadyBody<EntryBody>): boolean {
  return body.kind === "message" && body.message.interrupted === true;
}
