import { checkFields } from "../../model/arguments.ts";
import type { Entry, UsageBody } from "../../model/entry.ts";
import { isLonghaulError } from "../../model/errors.ts";
import type { Usage } from "../../model/usage.ts";
import type { ProviderFailure } from "../limits/failure.ts";
import { type Overflow, overflowOf } from "../limits/overflow.ts";
import { poisonOf } from "../limits/poison.ts";
import { overflowError } from "./errors.ts";
import type { Fitted } from "./fitted.ts";
import { Fitting, type FittingParts } from "./fitting.ts";
import { makeRoom, takeOut } from "./healing.ts";
import { remark } from "./meter.ts";
import type { FitOptions, WindowOptions } from "./options.ts";

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

  /** Stores what the provider reported for the request that was fitted last, and learns from it. */
  report(
    usage: Usage,
    options: { readonly request?: string; readonly model?: string } = {},
  ): Promise<Entry<UsageBody>> {
    return this.#inTurn(async () => {
      checkFields("usage", usage);
      checkFields("options", options, { request: "text?", model: "text?" });
      const body = { kind: "usage", ...this.reportOf(usage, options) } as const;
      return this.#parts.log.appendOne<UsageBody>(this.#parts.session, { body });
    });
  }

  /** The same report for whoever stores it himself, as a task does: learned from when it is in the log. */
  reportOf(
    usage: Usage,
    options: { readonly request?: string; readonly model?: string } = {},
  ): Omit<UsageBody, "kind"> {
    const { model = this.#fitting.settings.model, request } = checkFields("options", options);
    checkFields("usage", usage);
    const { refusals, sentTokens } = this.#fitting;
    refusals.answered();
    const estimated = sentTokens > 0 ? sentTokens + this.#besidesTokens : 0;
    return { usage, model, ...(request !== undefined && { request }), ...remark(estimated) };
  }

  /**
   * The window for another try after a provider has refused the last one: smaller after an overflow, without the block
   * that it rejected. Undefined if the failure has nothing to do with the window; WINDOW_OVERFLOW when all has been tried.
   */
  heal(failure: ProviderFailure): Promise<Fitted | undefined> {
    return this.#inTurn(async () => {
      checkFields("failure", failure);
      const overflow = overflowOf(failure);
      if (overflow) return this.#fitAfter(overflow);
      const poison = poisonOf(failure);
      const isOut = poison && (await takeOut(this.#fitting, poison, this.#parts));
      return isOut ? this.#fitting.fit({}) : undefined;
    });
  }

  /** Forgets what was read; for changes that leave no entry, as redaction does. */
  forget(): void {
    this.#fitting.forget();
  }

  async #fitAfter(overflow: Overflow): Promise<Fitted> {
    await makeRoom(this.#fitting, overflow, this.#besidesTokens, this.#parts);
    try {
      return await this.#fitting.fit({});
    } catch (error) {
      if (!isLonghaulError(error, "WINDOW_STUCK")) throw error;
      throw overflowError(overflow.message, this.#fitting.settings.model, error);
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work, work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }
}
