import type { Lines } from "../../log/lines.ts";
import type { Log } from "../../log/log.ts";
import type { Entry, SessionId, UsageBody } from "../../model/entry.ts";
import { isLonghaulError, throwIfAborted } from "../../model/errors.ts";
import type { CacheState } from "../../model/receipt.ts";
import type { Usage } from "../../model/usage.ts";
import type { ProviderFailure } from "../limits/failure.ts";
import { type Overflow, overflowOf } from "../limits/overflow.ts";
import { type Poison, poisonOf } from "../limits/poison.ts";
import { nextTry } from "../limits/retry.ts";
import type { ModelCatalogue } from "../models/model-catalogue.ts";
import { sizeOf } from "../size.ts";
import type { Slot } from "../slot.ts";
import { estimateText } from "../tokens/estimate.ts";
import { appendOverlay } from "./append-overlay.ts";
import { cacheStateOf } from "./cache-state.ts";
import type { Compacting } from "./compacting.ts";
import { overflowError } from "./errors.ts";
import type { Fitted, Planned } from "./fitted.ts";
import { Follower } from "./follower.ts";
import { lastSent } from "./last-sent.ts";
import type { LoadedWindow } from "./load-window.ts";
import { makeReceipt } from "./make-receipt.ts";
import { measured } from "./measured.ts";
import { Meter, remark } from "./meter.ts";
import type { WindowOptions } from "./options.ts";
import { storedEdit } from "./place-edit.ts";
import { Planning, type Proposed } from "./planning.ts";
import { stubForPoison } from "./poisoned.ts";
import { Progress } from "./progress.ts";
import { Refusals } from "./refusals.ts";
import { type Settings, settingsOf } from "./settings.ts";
import { storePlan } from "./store-plan.ts";
import { wholeMessages } from "./whole-messages.ts";

/** What a window is made of. */
export interface SessionWindowParts {
  readonly session: SessionId;
  readonly log: Log;
  readonly lines: Lines;
  /** Resolves when everything appended so far is committed. */
  readonly flush: () => Promise<void>;
  readonly catalogue: ModelCatalogue;
  /** What the agent was told to remember, as a section of the prompt. */
  readonly memories?: () => Promise<string | undefined>;
  readonly compacting?: Compacting;
}

/** How one fit is made. */
export interface FitOptions {
  readonly signal?: AbortSignal;
  /** True to look at what would be done without doing it. */
  readonly isDryRun?: boolean;
  /** For callers who know the state of the provider's cache. */
  readonly cache?: CacheState;
}

/** What a session's next call to one model is sent. */
export class SessionWindow {
  readonly #parts: SessionWindowParts;
  #settings: Settings;
  readonly #meter: Meter;
  readonly #follower: Follower;
  readonly #planning: Planning;
  #sent: readonly Slot[] = [];
  #sentTokens = 0;
  #besidesTokens = 0;
  #memories: string | undefined;
  readonly #progress = new Progress();
  readonly #refusals = new Refusals();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: SessionWindowParts, options: WindowOptions) {
    const { session, log, lines } = parts;
    this.#parts = parts;
    this.#settings = settingsOf(options, parts.catalogue);
    this.#meter = new Meter(this.#settings.model);
    this.#planning = new Planning(this.#settings, this.#meter, session);
    this.#follower = new Follower({
      session,
      entries: log.store.entries,
      lines,
      tokensOf: this.#settings.tokensOf,
      meter: this.#meter,
      mostTokens: this.#settings.limits.most,
    });
  }

  /** The messages of the next call, within the model's window. What leaves it is stored as an overlay, with a receipt. */
  fit(options: FitOptions = {}): Promise<Fitted> {
    const fitted = this.#inTurn(() => {
      this.#besidesTokens = 0;
      return this.#fit(options);
    });
    // The caller waits for its provider then, and not for this.
    const digest = () => setImmediate(() => this.#planning.digest(this.#sent)).unref();
    fitted.then(digest, () => undefined);
    return fitted;
  }

  /** The window as log and overlays make it now, whether it fits or not; nothing is decided or changed. */
  look(): Promise<Fitted> {
    return this.#inTurn(async () => {
      await this.#parts.flush();
      await this.#remember();
      const window = await this.#follow();
      return this.#fitted(window, this.#cacheState(window), { isDryRun: true });
    });
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
      const body = { kind: "usage", ...this.reportOf(usage, options) } as const;
      return this.#parts.log.appendOne<UsageBody>(this.#parts.session, { body });
    });
  }

  /** The same report for whoever stores it himself, as a task does: learned from when it is in the log. */
  reportOf(
    usage: Usage,
    { model = this.#settings.model, request }: { readonly request?: string; readonly model?: string } = {},
  ): Omit<UsageBody, "kind"> {
    this.#refusals.answered();
    const estimated = this.#sentTokens > 0 ? this.#sentTokens + this.#besidesTokens : 0;
    return { usage, model, ...(request !== undefined && { request }), ...remark(estimated) };
  }

  /**
   * The window for another try after a provider has refused the last one: smaller after an overflow, without the block
   * that it rejected. Undefined if the failure has nothing to do with the window; WINDOW_OVERFLOW when all has been tried.
   */
  heal(failure: ProviderFailure): Promise<Fitted | undefined> {
    return this.#inTurn(async () => {
      const overflow = overflowOf(failure);
      if (overflow) return this.#healOverflow(overflow);
      const poison = poisonOf(failure);
      return poison && this.#healPoison(poison);
    });
  }

  /** Forgets what was read; for changes that leave no entry, as redaction does. */
  forget(): void {
    this.#follower.forget();
    this.#planning.forget();
    this.#sent = [];
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work, work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async #fit(options: FitOptions): Promise<Fitted> {
    throwIfAborted(options.signal);
    await this.#parts.flush();
    await this.#remember();
    const followed = await this.#follow();
    const cache = options.cache ?? this.#cacheState(followed);
    const compacted = options.isDryRun ? followed : await this.#compacted(followed, cache, options.signal);
    const isForgetful = this.#planning.isForgetful(compacted, this.#refusals.forcedTokens);
    const window = isForgetful ? await this.#readAgain() : compacted;
    const proposed = this.#planning.fit(window, cache, this.#refusals.forcedTokens);
    if (!proposed.isEdited) return this.#fitted(window, cache, options);
    const planned = this.#plan(window, proposed, cache);
    if (options.isDryRun) {
      this.#planning.forget();
      this.#follower.forget();
      return this.#fitted({ ...window, slots: proposed.slots }, cache, options, planned);
    }
    this.#progress.check(planned, proposed, this.#settings.limits.most);
    const { log, session } = this.#parts;
    const overlay = await storePlan(log, session, window, proposed.slots, planned);
    if (overlay === undefined) {
      this.forget();
      return this.#fit(options);
    }
    this.#follower.carriedOut(overlay, proposed.slots);
    return this.#fitted({ ...window, slots: proposed.slots }, cache, options, { ...planned, overlay });
  }

  /** The window after a summary, where one was due. */
  async #compacted(
    window: LoadedWindow,
    cache: CacheState,
    signal: AbortSignal | undefined,
  ): Promise<LoadedWindow> {
    const { compacting } = this.#parts;
    if (!compacting) return window;
    const { limits, facts } = this.#settings;
    const tokens = this.#meter.counted(this.#estimated(window.slots));
    const hasChanged = await compacting.before(
      {
        tokens,
        window: limits.window,
        messages: window.slots.length,
        isForced: tokens > limits.most,
        isHot: cache !== "cold",
        expectedCalls: this.#planning.calls,
        facts,
      },
      signal,
    );
    return hasChanged ? this.#follow() : window;
  }

  async #follow(): Promise<LoadedWindow> {
    const followed = await this.#follower.follow();
    if (followed.isNew) this.#sent = lastSent(followed.window, this.#meter);
    this.#planning.take(followed);
    this.#refusals.seen(followed.window.slots);
    return followed.window;
  }

  #readAgain(): Promise<LoadedWindow> {
    this.#follower.forget();
    return this.#follow();
  }

  #cacheState({ slots }: LoadedWindow): CacheState {
    const lastSaidAt = slots.at(-2)?.at;
    return cacheStateOf(this.#meter.last, {
      at: this.#parts.log.clock.now(),
      model: this.#settings.model,
      ...(lastSaidAt !== undefined && { lastSaidAt }),
    });
  }

  #plan(window: LoadedWindow, { slots, isForced, reason }: Proposed, cache: CacheState): Planned {
    const { model, facts, policy } = this.#settings;
    const receipt = makeReceipt({
      model,
      facts,
      policy: policy.name,
      cache,
      isForced,
      expectedCalls: this.#planning.calls,
      system: this.#estimated([]),
      sent: this.#sent,
      before: window.slots,
      after: slots,
      unread: window.unread ? window.unread.to - window.unread.from + 1 : 0,
      counted: (estimated) => this.#meter.counted(estimated),
    });
    return { reason, receipt };
  }

  async #healOverflow(overflow: Overflow): Promise<Fitted> {
    const { model, limits } = this.#settings;
    const window = await this.#follow();
    const { requestedTokens, outputTokens = 0 } = overflow;
    const besides = this.#besidesTokens;
    const sent = (this.#sentTokens || this.#estimated(window.slots)) + besides;
    if (requestedTokens !== undefined && this.#sentTokens > 0)
      this.#meter.learnCount(sent, requestedTokens - outputTokens);
    const next = nextTry({
      tries: this.#refusals.overflows,
      lastTokens: this.#meter.counted(sent),
      overflow,
      limit: limits.most,
      floorTokens: this.#settings.isClipping ? 0 : this.#meter.counted(this.#planning.floorTokens(window)),
    });
    if (next.type === "give-up") throw overflowError(next.message, model);
    await this.#parts.compacting?.force();
    const within = this.#meter.estimatedWithin(next.budgetTokens);
    this.#refusals.overflowed(window.line.to, Math.max(0, within - besides));
    this.#follower.forget();
    try {
      return await this.#fit({});
    } catch (error) {
      if (isLonghaulError(error, "WINDOW_STUCK")) throw overflowError(overflow.message, model, error);
      throw error;
    }
  }

  /** Once for each request: a second rejection is not for us to guess at. */
  async #healPoison(poison: Poison): Promise<Fitted | undefined> {
    if (this.#refusals.isRejected) return undefined;
    const window = await this.#follow();
    const { session, log } = this.#parts;
    const stub = stubForPoison(poison, window.slots, session);
    if (!stub) return undefined;
    this.#refusals.rejected(window.line.to);
    const edit = storedEdit(stub, session, window.places);
    const reason = `the provider rejected it: ${poison.message}`;
    await appendOverlay(log, session, { kind: "overlay", author: "longhaul", reason, edit }, undefined);
    this.#follower.forget();
    return this.#fit({});
  }

  /** What is remembered goes with every request; it counts, and is not for policies to cut. */
  async #remember(): Promise<void> {
    const { memories } = this.#parts;
    if (!memories) return;
    this.#memories = await memories();
    this.#settings = { ...this.#settings, memories: estimateText(this.#memories ?? "") };
    this.#planning.setSystem(this.#estimated([]));
  }

  #estimated(slots: readonly Slot[]): number {
    const { system, tools, memories } = this.#settings;
    return system + tools + memories + sizeOf(slots);
  }

  async #fitted(
    window: LoadedWindow,
    cache: CacheState,
    { isDryRun }: FitOptions,
    plan?: Planned,
  ): Promise<Fitted> {
    const messages = await wholeMessages(window.slots, this.#parts.log.blobs);
    if (!isDryRun) {
      this.#sent = window.slots;
      this.#sentTokens = this.#estimated(window.slots);
    }
    return {
      messages,
      ...measured(window, this.#settings, this.#meter),
      cache,
      ...(this.#memories !== undefined && { memories: this.#memories }),
      ...(plan && { plan }),
    };
  }
}
