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

/** Facts that a caller knows about a usage report in addition to its counts. */
export interface ReportOptions {
  /** The provider's id of the request. */
  readonly request?: string;
  readonly model?: string;
  /** True if the provider ran its own tools for the reply, so its count covers more than the request. */
  readonly ranServerTools?: boolean;
}

/** The window of a session's calls to one model. Operations run one at a time, in the order of the calls. */
export class SessionWindow {
  readonly #parts: FittingParts;
  readonly #fitting: Fitting;
  #besidesTokens = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: FittingParts, options: WindowOptions) {
    this.#parts = parts;
    this.#fitting = new Fitting(parts, options);
  }

  /**
   * Returns the messages of the next call, within the model's window. Removed content is recorded as an overlay with a
   * receipt.
   */
  fit(options: FitOptions = {}): Promise<Fitted> {
    const fitted = this.#inTurn(async () => {
      checkFields("options", options, { signal: "signal?", isDryRun: "boolean?" });
      this.#besidesTokens = 0;
      return this.#fitting.fit(options);
    });
    // Runs while the caller waits for its provider, so it delays nobody.
    const digest = () => setImmediate(() => this.#fitting.digest()).unref();
    fitted.then(digest, () => undefined);
    return fitted;
  }

  /** The window as log and overlays define it now, whether it fits or not; changes nothing. */
  look(): Promise<Fitted> {
    return this.#inTurn(() => this.#fitting.look());
  }

  /** Sets the estimated tokens sent in addition to the last fitted window, which the provider counts as well. */
  sendsBesides(tokens: number): void {
    this.#besidesTokens = tokens;
  }

  /** Stores the provider's usage report for the last fitted request, and learns from it if it is plausible. */
  report(usage: Usage, options: ReportOptions = {}): Promise<Entry<UsageBody>> {
    return this.#inTurn(async () => {
      checkFields("usage", usage);
      checkFields("options", options, { request: "text?", model: "text?" });
      const body = { kind: "usage", ...this.reportOf(usage, options) } as const;
      return this.#parts.log.appendOne<UsageBody>(this.#parts.session, { body });
    });
  }

  /**
   * Builds the same report for callers that store it themselves, such as tasks; it is learned from once it is in the
   * log.
   */
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

  /** Removes the numbers from an overflow error if they cannot refer to the last fitted request. */
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
   * Returns a window for another try after a provider has refused the last one: smaller after an overflow, the same
   * with `maxOutputTokens` if only the output was too large, or without the block that was rejected. Undefined if the
   * failure is unrelated to the window. Throws WINDOW_OVERFLOW when all tries are used up.
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

  /** Drops all cached state; needed after changes that leave no entry, such as redaction. */
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
