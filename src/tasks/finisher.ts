import type { Log } from "../log/log.ts";
import type { TaskRecord } from "../log/store/task-store.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import type { Json } from "../model/json.ts";
import type { TaskNotice, TaskPlan } from "../model/task.ts";
import type { AfterStep, EndedTask, Isolation, NoticeChannel } from "./after-end.ts";
import type { Journal } from "./journal.ts";
import { retryStore, toErrorMessage } from "./retry-store.ts";
import { runWithDeadline, type Timer } from "./timer.ts";

/** Dependencies of a `Finisher`. */
interface FinisherDeps {
  readonly log: Log;
  readonly journal: Journal;
  readonly timer: Timer;
  readonly isolations: Readonly<Record<string, Isolation>>;
  readonly steps: readonly AfterStep[];
  readonly channels: readonly NoticeChannel[];
  readonly stepMs: number;
  /** Fires when the process can wait no longer; the next owner does the remaining work. */
  readonly stop: AbortSignal;
  readonly onNotice: (notice: TaskNotice) => void;
  readonly onWarning: (warning: string) => void;
}

/** Delivery attempts before a notice is given up. */
const MAX_ATTEMPTS = 10;
const TRIES_IN_A_ROW = 3;
/** A longer result is omitted from the notice; the task's status has it. */
const MAX_RESULT_CHARACTERS = 16_000;

/** Does the work after a task's end, which can never delay the end: isolation verdicts, checks, then the one notice. */
export class Finisher {
  readonly #deps: FinisherDeps;

  constructor(parts: FinisherDeps) {
    this.#deps = parts;
  }

  /** Runs the after-steps of a task whose notice is due, and writes and delivers the notice. */
  async finish(ended: EndedTask, place: Json | undefined): Promise<void> {
    const facts = await this.#collectFacts(ended, place);
    const { stop, channels, journal, onNotice } = this.#deps;
    if (stop.aborted) return;
    const notice = buildNotice(ended, facts);
    const next = channels.length === 0 ? "done" : "told";
    if (
      !(await retryStore(this.#deps, stop, ended.task.id, () =>
        journal.writeNotice(ended.task, notice, next),
      ))
    )
      return;
    onNotice(notice);
    if (next === "told") await this.deliver({ ...ended.task, notice: next }, notice);
  }

  /** Delivers a notice that is already in the log. */
  async deliver(task: TaskRecord, notice: TaskNotice): Promise<void> {
    const { channels, log, onWarning, stop } = this.#deps;
    const failed: string[] = [];
    for (const channel of channels) {
      const trouble = await this.#send(channel, notice);
      if (trouble !== undefined) failed.push(`${channel.name}: ${trouble}`);
    }
    if (stop.aborted && failed.length > 0) return;
    const attempts = task.attempts + 1;
    const isOver = failed.length === 0 || attempts >= MAX_ATTEMPTS;
    if (failed.length > 0)
      onWarning(
        `The notice of task ${task.id} was not delivered (attempt ${attempts}): ${failed.join("; ")}`,
      );
    const change = {
      id: task.id,
      expect: { epoch: task.epoch, notice: "told" },
      set: { attempts, ...(isOver && { notice: "done" as const }) },
    } as const;
    const paying = () => log.store.tasks.change(change);
    await retryStore(this.#deps, stop, task.id, paying).catch(() => undefined);
  }

  async #collectFacts(ended: EndedTask, place: Json | undefined): Promise<{ readonly [step: string]: Json }> {
    const facts: Record<string, Json> = {};
    for (const step of this.#listSteps(ended, place)) {
      const { timer, stepMs, stop } = this.#deps;
      const result = await runWithDeadline(
        timer,
        step.limitMs ?? stepMs,
        async (signal) => step.run(ended, signal),
        stop,
      );
      if (stop.aborted) break;
      if (result.type === "done") {
        if (result.value !== undefined) facts[step.name] = result.value;
      } else {
        facts[step.name] = {
          isUnknown: true,
          why: result.type === "late" ? "not done in time" : toErrorMessage(result.error),
        };
      }
    }
    return facts;
  }

  #listSteps({ task, tag, plan, isOrphan }: EndedTask, place: Json | undefined): readonly AfterStep[] {
    const name = plan?.isolation;
    const isolation = name === undefined ? undefined : this.#deps.isolations[name];
    if (name === undefined || !isolation || (place === undefined && !isOrphan)) return this.#deps.steps;
    const verdict: AfterStep = {
      name,
      ...dropUndefined({ limitMs: isolation.limitMs }),
      run: (_, signal) =>
        place === undefined
          ? isolation.collect?.(task.id, plan as TaskPlan, signal, tag)
          : isolation.settle(task.id, place, signal, tag),
    };
    return [...this.#deps.steps, verdict];
  }

  async #send(channel: NoticeChannel, notice: TaskNotice): Promise<string | undefined> {
    const { timer, stepMs, stop } = this.#deps;
    let trouble = "not tried";
    for (let round = 0; round < TRIES_IN_A_ROW && !stop.aborted; round++) {
      if (round > 0) await new Promise<void>((resolve) => timer.after(200 * 4 ** round, resolve));
      const result = await runWithDeadline(
        timer,
        channel.limitMs ?? stepMs,
        (signal) => channel.send(notice, signal),
        stop,
      );
      if (result.type === "done") return undefined;
      trouble = result.type === "late" ? "not done in time" : toErrorMessage(result.error);
    }
    return trouble;
  }
}

function buildNotice(
  { task, outcome, plan }: EndedTask,
  facts: { readonly [step: string]: Json },
): TaskNotice {
  const { result, ...rest } = outcome;
  const isLong = result !== undefined && (JSON.stringify(result)?.length ?? 0) > MAX_RESULT_CHARACTERS;
  return {
    ...rest,
    ...(isLong ? { isResultOmitted: true } : result !== undefined && { result }),
    id: `${task.id}/ended`,
    task: task.id,
    agent: task.agent,
    ...dropUndefined({ title: plan?.title }),
    session: task.session,
    settledAt: task.settledAt ?? 0,
    ...(Object.keys(facts).length > 0 && { facts }),
  };
}
