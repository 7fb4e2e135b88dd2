import type { Ready } from "../log/absorb.ts";
import { type AppendExtras, Log, type LogParts, NO_EXTRAS } from "../log/log.ts";
import type { Entry, EntryBody, SessionId } from "../model/entry.ts";
import { isLonghaulError } from "../model/errors.ts";
import type { TaskId } from "../model/task.ts";

/** What a writer must still be, so that it may write: the run of a task, by its epoch. */
export interface Fence {
  readonly task: TaskId;
  /** Grows while the same call of the agent goes on in other hands. */
  epoch(): number;
}

/**
 * The log as one call of an agent sees it: an append is refused with TASK_CONFLICT once the task has ended or is someone
 * else's. What was being written then is kept all the same, as an interrupted message.
 */
export class FencedLog extends Log {
  readonly #fence: Fence;

  constructor(parts: LogParts, fence: Fence) {
    super(parts);
    this.#fence = fence;
  }

  override append<Body extends EntryBody>(
    session: SessionId,
    items: readonly Ready<Body>[],
    extras: AppendExtras = NO_EXTRAS,
  ): Promise<readonly Entry<Body>[]> {
    if (extras.task || items.every(isInterrupted)) return super.append(session, items, extras);
    return this.#fenced(items, extras, (fenced) => super.append(session, items, fenced));
  }

  override appendOne<Body extends EntryBody>(
    session: SessionId,
    item: Ready<Body>,
    extras: AppendExtras = NO_EXTRAS,
  ): Promise<Entry<Body>> {
    if (extras.task || isInterrupted(item)) return super.appendOne(session, item, extras);
    return this.#fenced([item], extras, (fenced) => super.appendOne(session, item, fenced));
  }

  async #fenced<T>(
    items: readonly Ready[],
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
          // It may be moving to the background with this very call: the new epoch is known when this turn is over.
          await new Promise((resolve) => setImmediate(resolve));
          if (this.#fence.epoch() !== epoch) continue;
        }
        if (!extras.retries) await this.giveUp(items.flatMap(({ holds }) => holds ?? []));
        throw error;
      }
    }
  }
}

function isInterrupted({ body }: Ready<EntryBody>): boolean {
  return body.kind === "message" && body.message.interrupted === true;
}
