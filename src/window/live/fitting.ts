import type { Lines } from "../../log/lines.ts";
import type { Log } from "../../log/log.ts";
import type { SessionId } from "../../model/entry.ts";
import { throwIfAborted } from "../../model/errors.ts";
import type { CacheState } from "../../model/receipt.ts";
import type { ModelCatalogue } from "../models/model-catalogue.ts";
import type { Paging } from "../paging/paging.ts";
import type { Slot } from "../slot.ts";
import { estimateText } from "../tokens/estimate.ts";
import { maxCountOf } from "../tokens/plausible.ts";
import { cacheStateOf } from "./cache-state.ts";
import type { Compacting } from "./compacting.ts";
import { isStuck } from "./edit-guard.ts";
import { stuckError } from "./errors.ts";
import { estimatedTokens } from "./estimated-tokens.ts";
import type { Fitted, Planned } from "./fitted.ts";
import { Follower } from "./follower.ts";
import { lastSent } from "./last-sent.ts";
import type { LoadedWindow } from "./load-window.ts";
import { makeReceipt } from "./make-receipt.ts";
import { measured } from "./measured.ts";
import { Meter } from "./meter.ts";
import type { FitOptions, WindowOptions } from "./options.ts";
import { Pager } from "./pager.ts";
import { Planning, type Proposed } from "./planning.ts";
import { Refusals } from "./refusals.ts";
import { type Settings, settingsOf } from "./settings.ts";
import { storePage, storePlan } from "./store-plan.ts";
import { wholeMessages } from "./whole-messages.ts";

/** Minimum tokens that a full window frees for a page, so that requested content can be brought back. */
const PAGE_RESERVE_TOKENS = 4_000;

/** Dependencies of a fitting. */
export interface FittingParts {
  readonly session: SessionId;
  readonly log: Log;
  readonly lines: Lines;
  /** Resolves when everything appended so far is committed. */
  readonly flush: () => Promise<void>;
  readonly catalogue: ModelCatalogue;
  /** The agent's memories, as a section of the prompt. */
  readonly memories?: () => Promise<string | undefined>;
  readonly compacting?: Compacting;
  /** Finds content that has left the window. */
  readonly paging?: Paging;
}

/** Follows a session, lets the policy plan its window, and applies the plan. Not reentrant: one call at a time. */
export class Fitting {
  readonly meter: Meter;
  readonly planning: Planning;
  readonly refusals = new Refusals();
  readonly #parts: FittingParts;
  readonly #follower: Follower;
  readonly #pager: Pager | undefined;
  #settings: Settings;
  #memories: string | undefined;
  #sent: readonly Slot[] = [];
  #sentTokens = 0;

  constructor(parts: FittingParts, options: WindowOptions) {
    const { session, log, lines } = parts;
    this.#parts = parts;
    this.#settings = settingsOf(options, parts.catalogue, parts.compacting !== undefined);
    this.meter = new Meter(this.#settings.model);
    const { paging } = parts;
    const windowTokens = this.#settings.limits.window;
    this.#pager =
      paging && this.#settings.isPaging ? new Pager({ session, log, paging, windowTokens }) : undefined;
    this.planning = new Planning(this.#settings, this.meter, session);
    this.#follower = new Follower({
      session,
      entries: log.store.entries,
      lines,
      tokensOf: this.#settings.tokensOf,
      meter: this.meter,
      mostTokens: this.#settings.limits.most,
    });
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** Estimated tokens of the last fitted window; 0 before the first. */
  get sentTokens(): number {
    return this.#sentTokens;
  }

  /** Returns the messages of the next call. Removed content is recorded as an overlay with a receipt. */
  async fit(options: FitOptions): Promise<Fitted> {
    throwIfAborted(options.signal);
    await this.#parts.flush();
    await this.#remember();
    const followed = await this.follow();
    const cache = options.cache ?? this.#cacheState(followed);
    const compacted = options.isDryRun ? followed : await this.#compacted(followed, cache, options);
    const isForgetful = this.planning.isForgetful(compacted, this.refusals.forcedTokens);
    if (isForgetful) this.readAnew();
    const window = isForgetful ? await this.follow() : compacted;
    const proposed = this.planning.fit(window, cache, this.refusals.forcedTokens, this.#pageTokens(window));
    if (!proposed.isEdited) return this.#fitted(await this.#pagedIn(window, cache, options), cache, options);
    const planned = this.#plan(window, proposed, cache);
    if (options.isDryRun) {
      this.planning.forget();
      this.#follower.forget();
      return this.#fitted({ ...window, slots: proposed.slots }, cache, options, planned);
    }
    this.#checkProgress(planned);
    const { log, session } = this.#parts;
    const overlay = await storePlan(log, session, window, proposed.slots, planned);
    if (overlay === undefined) {
      this.forget();
      return this.fit(options);
    }
    this.#follower.carriedOut(overlay, proposed.slots);
    const edited = { ...window, slots: proposed.slots, head: overlay };
    const paged = await this.#pagedIn(edited, cache, options, true);
    return this.#fitted(paged, cache, options, { ...planned, overlay });
  }

  /** The window as log and overlays define it now, whether it fits or not. */
  async look(): Promise<Fitted> {
    await this.#parts.flush();
    await this.#remember();
    const window = await this.follow();
    return this.#fitted(window, this.#cacheState(window), { isDryRun: true });
  }

  /** The window, updated with new entries of the log. */
  async follow(): Promise<LoadedWindow> {
    const followed = await this.#follower.follow();
    if (followed.isNew) this.#sent = lastSent(followed.window, this.meter);
    await this.planning.take(followed);
    this.refusals.seen(followed.window.slots);
    return followed.window;
  }

  /** Estimated tokens of a request with these messages. */
  estimated(slots: readonly Slot[]): number {
    return estimatedTokens(this.#settings, slots);
  }

  /**
   * The most tokens that the provider can plausibly count for the last request; `besides` counts the extra tokens sent
   * with it.
   */
  maxCount(besides: number): number {
    const messages = this.#sent.map(({ message }) => message);
    return maxCountOf(messages, this.#sentTokens + besides, this.#settings.isFrameKnown);
  }

  /** Runs the policy's deferred work. */
  digest(): void {
    this.planning.digest(this.#sent);
  }

  /** Makes the next `follow` load the window from scratch. */
  readAnew(): void {
    this.#follower.forget();
  }

  /** Drops all state about the window, its plan and the last request. */
  forget(): void {
    this.#follower.forget();
    this.planning.forget();
    this.#pager?.forget();
    this.#sent = [];
  }

  /** Tokens to leave free for a page; 0 unless content has left the window. */
  #pageTokens(window: LoadedWindow): number {
    if (!this.#pager || window.overlays.length === 0) return 0;
    return Math.min(PAGE_RESERVE_TOKENS, this.#pager.wantedTokens(window.slots));
  }

  /** Adds the content that the newest message asks for and that has left the window, stored as an overlay. */
  async #pagedIn(
    window: LoadedWindow,
    cache: CacheState,
    { isDryRun, signal }: FitOptions,
    hasLeft = window.overlays.length > 0,
  ): Promise<LoadedWindow & { readonly page?: Planned }> {
    if (!this.#pager || isDryRun || !hasLeft) return window;
    const most = this.meter.estimatedWithin(this.#settings.limits.most);
    const room = Math.min(most, this.planning.budgetTokens) - this.estimated(window.slots);
    const page = await this.#pager.find(window, room, signal);
    if (!page) return window;
    const slot = { ...page.slot, tokens: this.#settings.tokensOf(page.slot.message) };
    const slots = [...window.slots, slot];
    const planned = this.#plan(
      window,
      { slots, isForced: false, isEdited: true, reason: page.reason },
      cache,
    );
    const { log, session } = this.#parts;
    const overlay = await storePage(log, session, window, page.edit, planned);
    if (overlay === undefined) return window;
    this.planning.observe(slot);
    this.#follower.pagedIn(overlay, slots);
    return { ...window, slots, page: { ...planned, overlay } };
  }

  /** Adds a summary because the provider says that the window is too large, regardless of estimates. */
  async forceSummary(window: LoadedWindow): Promise<void> {
    await this.#summarize(window, this.#cacheState(window), true, undefined);
  }

  /** The window after a summary, if one was due. */
  async #compacted(window: LoadedWindow, cache: CacheState, { signal }: FitOptions): Promise<LoadedWindow> {
    return (await this.#summarize(window, cache, false, signal)) ? this.follow() : window;
  }

  async #summarize(
    window: LoadedWindow,
    cache: CacheState,
    isRefused: boolean,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { compacting } = this.#parts;
    if (!compacting) return false;
    const { limits, facts, set } = this.#settings;
    const estimated = this.estimated(window.slots);
    const tokens = this.meter.counted(estimated);
    const state = {
      tokens,
      window: limits.window,
      messages: window.slots.length,
      loaded: window,
      countedPerEstimated: tokens / Math.max(1, estimated),
      set,
      isForced: isRefused || tokens > limits.most,
      isHot: cache !== "cold",
      expectedCalls: this.planning.calls,
      facts,
    };
    return compacting.before(state, signal);
  }

  #cacheState({ slots }: LoadedWindow): CacheState {
    const lastSaidAt = slots.at(-2)?.at;
    return cacheStateOf(this.meter.last, {
      at: this.#parts.log.clock.now(),
      model: this.#settings.model,
      ...(lastSaidAt !== undefined && { lastSaidAt }),
    });
  }

  /**
   * Skipped after a refusal: counts are then in doubt and tries are limited, so every smaller window is worth a try.
   */
  #checkProgress({ receipt: { tokens } }: Planned): void {
    const { limits, policy } = this.#settings;
    if (this.refusals.forcedTokens !== undefined) return;
    if (!isStuck({ before: tokens.without, after: tokens.with }, limits.most)) return;
    throw stuckError(policy.name, tokens, limits.most);
  }

  #plan(window: LoadedWindow, { slots, isForced, reason }: Proposed, cache: CacheState): Planned {
    const { model, facts, policy } = this.#settings;
    const receipt = makeReceipt({
      model,
      facts,
      policy: policy.name,
      cache,
      isForced,
      expectedCalls: this.planning.calls,
      system: this.estimated([]),
      sent: this.#sent,
      before: window.slots,
      after: slots,
      unread: window.unread ? window.unread.to - window.unread.from + 1 : 0,
      counted: (estimated) => this.meter.counted(estimated),
    });
    return { reason, receipt };
  }

  /** Memories are sent with every request; they count toward its size, and policies cannot cut them. */
  async #remember(): Promise<void> {
    const { memories } = this.#parts;
    if (!memories) return;
    this.#memories = await memories();
    this.#settings = { ...this.#settings, memories: estimateText(this.#memories ?? "") };
    this.planning.setSystem(this.estimated([]));
  }

  async #fitted(
    window: LoadedWindow & { readonly page?: Planned },
    cache: CacheState,
    { isDryRun }: FitOptions,
    plan?: Planned,
  ): Promise<Fitted> {
    const messages = await wholeMessages(window.slots, this.#parts.log.blobs);
    if (!isDryRun) {
      this.#sent = window.slots;
      this.#sentTokens = this.estimated(window.slots);
    }
    return {
      messages,
      ...measured(window, this.#settings, this.meter),
      cache,
      ...(this.#memories !== undefined && { memories: this.#memories }),
      ...(plan && { plan }),
      ...(window.page && { page: window.page }),
    };
  }
}
