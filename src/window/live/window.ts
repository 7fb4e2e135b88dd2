import { checkFields } from "../../model/arguments.ts";
import type { Entry, UsageBody } from "../../model/entry.ts";
import type { Usage } from "../../model/usage.ts";
import type { ProviderFailure } from "../limits/failure.ts";
import { type Overflow, outputOverflowOf, overflowOf } from "../limits/overflow.ts";
import { poisonOf } from "../limits/poison.ts";
import type { Fitted } from "./fitted.ts";
import { Fitting, type FittingParts } from "./fitting.ts";
import { believed, fitSmaller, lowerOutput, takeOut } from "./healing.ts";
import { promptTokens, remark } from "./meter.ts";
import type { FitOptions, WindowOptions } from "./options.ts";

/** What a caller knows about a report besides its counts. */
export interface ReportOptions {
  /** The provider's id of the request. */
  readonly request?: string;
  readonly model?: string;
  /** True if the provider ran tools of its own for the reply: its count then covers more than what was sent. */
  readonly ranServerTools?: boolean;
}

/** What a session's next call to one model is sent. One thing is done after the other, whoever asks. */
export class SessionWindow {
  readonly #parts: FittingParts;
  readonly #fitting: Fitting;
  #besidesTokens = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: FittingParts, options: WindowOptions) {
    this.#parts = parts;
    this.#fitting = new Fitting(parts, options);
  }

  /** The messages of the next call, within the model's window. What leaves it is stored as an overlay, with a receipt. */
  fit(options: FitOptions = {}): Promise<Fitted> {
    const fitted = this.#inTurn(async () => {
      checkFields("options", options, { signal: "signal?", isDryRun: "boolean?" });
      this.#besidesTokens = 0;
      return this.#fitting.fit(options);
    });
    // The caller waits for its provider then, and not for this.
    const digest = () => setImmediate(() => this.#fitting.digest()).unref();
    fitted.then(digest, () => undefined);
    return fitted;
  }

  /** The window as log and overlays make it now, whether it fits or not; nothing is decided or changed. */
  look(): Promise<Fitted> {
    return this.#inTurn(() => this.#fitting.look());
  }

  /** Says what goes out with the window that was fitted last, in estimated tokens: the provider counts it too. */
  sendsBesides(tokens: number): void {
    this.#besidesTokens = tokens;
  }

  /** Stores what the provider reported for the request that was fitted last, and learns from it if it can be true. */
  report(usage: Usage, options: ReportOptions = {}): Promise<Entry<UsageBody>> {
    return this.#inTurn(async () => {
      checkFields("usage", usage);
      checkFields("options", options, { request: "text?", model: "text?" });
      const body = { kind: "usage", ...this.reportOf(usage, options) } as const;
      return this.#parts.log.appendOne<UsageBody>(this.#parts.session, { body });
    });
  }

  /** The same report for whoever stores it himself, as a task does: learned from when it is in the log. */
  reportOf(usage: Usage, options: ReportOptions = {}): Omit<UsageBody, "kind"> {
    const {
      model = this.#fitting.settings.model,
      request,
      ranServerTools = false,
    } = checkFields("options", options);
    checkFields("usage", usage);
    const { refusals, sentTokens } = this.#fitting;
    refusals.answered();
    const estimated = sentTokens > 0 ? sentTokens + this.#besidesTokens : 0;
    const isUnreliable = ranServerTools || promptTokens(usage) > this.#fitting.maxCount(this.#besidesTokens);
    return { usage, model, ...(request !== undefined && { request }), ...remark(estimated, isUnreliable) };
  }

  /** An overflow error without its numbers where they cannot be true of what was fitted last. */
  believed(overflow: Overflow): Overflow {
    checkFields("overflow", overflow, {
      message: "text",
      limitTokens: "number?",
      requestedTokens: "number?",
      outputTokens: "number?",
    });
    return believed(this.#fitting, overflow, this.#besidesTokens);
  }

  /**
   * The window for another try after a provider has refused the last one: smaller after an overflow, the same with
   * `maxOutputTokens` where only the output was too much, without the block that it rejected. Undefined if the failure
   * has nothing to do with the window; WINDOW_OVERFLOW when all has been tried.
   */
  heal(failure: ProviderFailure): Promise<Fitted | undefined> {
    return this.#inTurn(async () => {
      checkFields("failure", failure);
      const overflow = overflowOf(failure);
      if (overflow) return this.#fitAfter(this.believed(overflow));
      const output = outputOverflowOf(failure);
      if (output) return this.#lowerOutput(this.believed(output));
      const poison = poisonOf(failure);
      const isOut = poison && (await takeOut(this.#fitting, poison, this.#parts));
      return isOut ? this.#fitting.fit({}) : undefined;
    });
  }

  /** Forgets what was read; for changes that leave no entry, as redaction does. */
  forget(): void {
    this.#fitting.forget();
  }

  async #fitAfter(overflow: Overflow): Promise<Fitted | undefined> {
    const lowered = await this.#lowerOutput(overflow);
    return lowered ?? fitSmaller(this.#fitting, overflow, this.#besidesTokens, this.#parts);
  }

  #lowerOutput(overflow: Overflow): Promise<Fitted | undefined> {
    return lowerOutput(this.#fitting, overflow, this.#besidesTokens);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work, work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }
}
