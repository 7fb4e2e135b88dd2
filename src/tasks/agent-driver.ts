import { createArgumentError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { type Census, type Closable, Lifetime } from "../model/lifetime.ts";
import type { AgentEvent } from "./agent.ts";
import { runWithDeadline, type Timer } from "./timer.ts";

/** Result of driving an agent. */
export type DriveResult =
  | { readonly type: "done"; readonly value: Json | undefined }
  | { readonly type: "threw"; readonly error: unknown }
  /** The task moves to the background. */
  | { readonly type: "detach" }
  /** Another caller has ended the task, or another process owns it. */
  | { readonly type: "stopped" };

/** Time limits of the cleanup steps. */
interface AgentDriverLimits {
  /** For the agent's `finally` blocks. */
  readonly returnMs: number;
  /** For the resources that the agent opened. */
  readonly closeMs: number;
}

type EventIterator = AsyncIterator<AgentEvent, unknown>;

/**
 * Runs one call of an agent: requests its events one by one and owns the resources it opens. An interrupt sets one flag
 * and wakes one waiter, so a loop of any length never accumulates listeners.
 */
export class AgentDriver {
  readonly lifetime: Lifetime;
  /** Epoch under which this shell writes; grows when the iterator is handed on. */
  epoch: number;
  readonly #abort = new AbortController();
  readonly #timer: Timer;
  readonly #limits: AgentDriverLimits;
  #events: EventIterator | undefined;
  #pending: Promise<IteratorResult<AgentEvent, unknown>> | undefined;
  #isOver = false;
  #interrupt: "detach" | "stopped" | undefined;
  #wake: () => void = () => undefined;
  #summarizer: Closable | undefined;
  #closing: Promise<void> | undefined;

  constructor(epoch: number, census: Census, timer: Timer, limits: AgentDriverLimits) {
    this.epoch = epoch;
    this.lifetime = new Lifetime("shell", census);
    this.#timer = timer;
    this.#limits = limits;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get isStopped(): boolean {
    return this.#interrupt === "stopped";
  }

  /** Starts iterating over the agent's events. */
  begin(events: AsyncIterable<AgentEvent>): void {
    if (typeof events?.[Symbol.asyncIterator] !== "function")
      throw createArgumentError(
        "what the agent returns",
        events,
        "its events, as an async function* returns them",
      );
    this.#events = events[Symbol.asyncIterator]();
  }

  /** Consumes events until the agent is done or interrupted. `take` resolves when an event is in the log. */
  async drive(take: (event: AgentEvent) => Promise<void>): Promise<DriveResult> {
    try {
      for (;;) {
        if (this.#interrupt) return this.#toInterruptResult();
        const step = await this.#next();
        if (!step) continue;
        if (step.done) {
          this.#isOver = true;
          return this.isStopped
            ? { type: "stopped" }
            : { type: "done", value: step.value as Json | undefined };
        }
        if (this.isStopped) return { type: "stopped" };
        await take(step.value);
      }
    } catch (error) {
      this.#isOver = true;
      return this.isStopped ? { type: "stopped" } : { type: "threw", error };
    }
  }

  /** Interrupts the loop so that the task can move to the background. */
  detach(): void {
    this.#interrupt ??= "detach";
    this.#wake();
  }

  /** Ends the loop for good and aborts the agent's signal. */
  stop(reason: string): void {
    if (this.#interrupt === "stopped") return;
    this.#interrupt = "stopped";
    this.#wake();
    this.#abort.abort(new Error(`The task was stopped: ${reason}.`));
  }

  /** Continues the same iterator under a new epoch. */
  continueUnder(epoch: number, summariser: Closable | undefined): void {
    if (this.#interrupt === "detach") this.#interrupt = undefined;
    this.epoch = epoch;
    this.replaceSummarizer(summariser);
  }

  /** Replaces the summarizer and closes the previous one. */
  replaceSummarizer(summariser: Closable | undefined): void {
    const former = this.#summarizer;
    this.#summarizer = summariser;
    if (former) void runWithDeadline(this.#timer, this.#limits.closeMs, () => former.close());
  }

  /** Runs the agent's `finally` blocks, then closes its lifetime: each once, each under its own deadline. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#interrupt = "stopped";
    this.replaceSummarizer(undefined);
    const steps = this.#events;
    if (steps?.return && !this.#isOver)
      await runWithDeadline(this.#timer, this.#limits.returnMs, async () => steps.return?.(undefined));
    if (!this.signal.aborted) this.#abort.abort(new Error("This call of the agent is over."));
    const closed = await runWithDeadline(this.#timer, this.#limits.closeMs, () => this.lifetime.close());
    if (closed.type === "late") this.lifetime.hurry();
    this.#events = undefined;
    this.#pending = undefined;
  }

  #toInterruptResult(): DriveResult {
    return { type: this.#interrupt === "detach" ? "detach" : "stopped" };
  }

  /** Returns the next event, or undefined if interrupted; the next call then returns the pending event. */
  #next(): Promise<IteratorResult<AgentEvent, unknown> | undefined> {
    return new Promise((resolve, reject) => {
      let isWaiting = true;
      // After an interrupt, leave the pending event for the next call.
      const take = () => {
        if (isWaiting) this.#pending = undefined;
        return isWaiting;
      };
      this.#wake = () => {
        isWaiting = false;
        resolve(undefined);
      };
      this.#pending ??= (this.#events as EventIterator).next();
      this.#pending.then(
        (step) => take() && resolve(step),
        (error) => take() && reject(error),
      );
    });
  }
}
