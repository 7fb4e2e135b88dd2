import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { throwIfAborted } from "../../model/errors.ts";
import type { CacheState, Comparison } from "../../model/receipt.ts";
import { limitReserve } from "../limits/choose-next-try.ts";
import { isPage } from "../paging/page-note.ts";
import type { Moment } from "../policy.ts";
import type { Slot } from "../slot.ts";
import { estimateText } from "../tokens/estimate.ts";
import { estimateMaxCount } from "../tokens/gauge.ts";
import type { RequestSizes } from "../usage/usage-meta.ts";
import { isStuck } from "./edit-guard.ts";
import type { FittedWindow, PlannedEdit } from "./fitted-window.ts";
import { Follower } from "./follower.ts";
import { findPageOverlay, hasRemovedContent, type LoadedWindow, restoreMessages } from "./load-window.ts";
import { measureWindow } from "./measure-window.ts";
import { Meter } from "./meter.ts";
import { planEdit } from "./plan-edit.ts";
import { PolicyPlanner } from "./policy-planner.ts";
import { Refusals } from "./refusals.ts";
import type { FitOptions, WindowOptions } from "./session-window-options.ts";
import { PlanWriter } from "./store-plan.ts";
import type { CompactionState } from "./window-compactor.ts";
import { createStuckError } from "./window-errors.ts";
import type { MemoriesSource, WindowFitterDeps } from "./window-fitter-deps.ts";
import { WindowPager } from "./window-pager.ts";
import { estimateRequest, resolveWindowSettings, type WindowSettings } from "./window-settings.ts";

/** The call before which a window may be compacted. */
interface CompactedCall {
  readonly settings: WindowSettings;
  readonly meter: Meter;
  readonly cache: CacheState;
  readonly expectedCalls: number;
  /** True if the provider says that the window is too large, regardless of estimates. */
  readonly isRefused: boolean;
}

/** A refused window is cut to 75 % of its size unless the provider names its limit. */
const REFUSED_EXCESS = 0.25;

/** Where no cache is reported, edits that no limit forces are at least so many calls apart. */
const CALLS_BETWEEN_EDITS = 20;
const PAGE_OVER = "the page left to make room";

/** Follows a session, lets the policy plan its window, and applies the plan. Not reentrant: one call at a time. */
export class WindowFitter {
  readonly meter: Meter;
  planner: PolicyPlanner;
  readonly refusals = new Refusals();
  readonly #deps: WindowFitterDeps;
  readonly follower: Follower;
  readonly #pager: WindowPager | undefined;
  readonly #writer: PlanWriter;
  settings: WindowSettings;
  /** Tokens that the caller adds to the fitted messages. */
  #besides = 0;
  #memories: string | undefined;
  #hasReadMemories = false;
  /** The messages of the last fitted request. */
  lastSent: readonly Slot[] = [];
  /** Estimated tokens of the last fitted request; 0 before the first. */
  sentTokens = 0;
  /** Its estimated sizes; undefined before the first. */
  sentSizes: Omit<RequestSizes, "overheadMs"> | undefined;
  /** True if an edit has not been paid for yet: no request since has been answered. */
  #hasNewEdit = false;

  constructor(parts: WindowFitterDeps, options: WindowOptions) {
    const { session, log, lines, pageSource } = parts;
    this.#deps = parts;
    this.settings = resolveWindowSettings(options, parts.catalog, parts.compactor !== undefined);
    this.meter = new Meter(this.settings.model, this.settings.facts.cacheMs);
    const windowTokens = this.settings.limits.window;
    this.#pager = this.settings.isPaging
      ? new WindowPager({ session, log, pageSource, windowTokens })
      : undefined;
    this.planner = new PolicyPlanner(this.settings, this.meter, session);
    this.#writer = new PlanWriter(log, session, (overlay) => this.follower.isOwn(overlay));
    this.follower = new Follower({
      session,
      entries: log.store.entries,
      lines,
      tokensOf: this.settings.tokensOf,
      meter: this.meter,
      maxTokens: this.settings.limits.most,
    });
  }

  /** Records that the last fitted request was answered. */
  recordReply(): void {
    if (this.refusals.hasAny) this.refusals.reset();
    this.#hasNewEdit = false;
  }

  /** Returns the messages of the next call. Removed content is recorded as an overlay with a receipt. */
  async fit(options: FitOptions): Promise<FittedWindow> {
    throwIfAborted(options.signal);
    await this.#deps.flush();
    if (this.#deps.memories) await this.#readMemories(this.#deps.memories);
    if ((options.besides ?? 0) !== this.#besides) {
      this.#besides = options.besides ?? 0;
      this.planner.setSystem(this.estimate([]));
    }
    let followed = await this.follow();
    if (this.refusals.provenLimit < this.settings.limits.window) {
      this.#learnLimit();
      followed = await this.follow();
    }
    const cache = options.cache ?? this.meter.estimateCacheState(followed.slots, this.#deps.log.clock);
    const mayCompact = this.#deps.compactor !== undefined && !options.dryRun;
    const isCompacted = mayCompact && (await this.#summarize(followed, cache, false, options.signal));
    const latest = isCompacted ? await this.follow() : followed;
    if (this.refusals.hasAny) this.planner.capTokens = this.refusals.findTurnCap(latest.slots);
    // A page is in the window because of an overlay, and only content that an edit has removed can return as one.
    const isUnedited = latest.overlays.length === 0 && latest.unread === undefined;
    const keepsPages = isUnedited || this.settings.policy.dropsPages === true;
    const window = keepsPages ? latest : await this.#dropPages(latest, cache, options);
    const { isUncached, isCaching } = this.meter;
    const { forcedTokens } = this.refusals;
    const moment: Moment = {
      ...dropUndefined({ forcedTokens }),
      isHot: cache !== "cold",
      isUncached,
      minCalls: isCaching ? 0 : CALLS_BETWEEN_EDITS,
    };
    const proposed = this.planner.fit(window, moment, forcedTokens);
    if (!proposed) {
      const paged = isUnedited ? window : await this.#addPage(window, cache, options);
      return this.#buildResult(paged, cache, options, { isSummarized: isCompacted });
    }
    const planned = planEdit(this.#describeCall(cache), window, proposed);
    const { isTouchUp } = proposed;
    if (options.dryRun) {
      this.planner.forget();
      this.follower.forget();
      return this.#buildResult({ ...window, slots: proposed.slots }, cache, options, {
        plan: planned,
        isTouchUp,
      });
    }
    if (forcedTokens === undefined && !isTouchUp) this.refusals.recordCappedEdit(window.slots);
    // After a refusal, counts are in doubt and tries are limited, so every smaller window is worth a try.
    if (this.refusals.forcedTokens === undefined && !isTouchUp)
      checkProgress(planned.receipt.tokens, this.settings);
    const overlay = isTouchUp
      ? await this.#writer.storeTouchUp(window, proposed.slots, planned)
      : await this.#writer.storePlan(window, proposed.slots, planned);
    if (overlay === undefined) {
      this.forget();
      return this.fit(options);
    }
    const edited = await this.follower.apply(overlay, isTouchUp ? proposed.slots : undefined);
    // After a plan the policy starts again from the log, so that it knows what a new handle would know.
    if (!isTouchUp) this.planner.forget();
    // Messages that others appended while the edit was stored are part of the window, which may be too large again.
    if (edited.head > window.head + 1 && this.#computeExcess(edited) > 0) return this.fit(options);
    const paged = await this.#addPage(edited, cache, options);
    return this.#buildResult(paged, cache, options, {
      plan: { ...planned, overlay: overlay.seq },
      isTouchUp,
    });
  }

  /** The window as log and overlays define it now, whether it fits or not; `dryRun` is false if it is sent. */
  async look(dryRun = true): Promise<FittedWindow> {
    await this.#deps.flush();
    if (this.#deps.memories) await this.#readMemories(this.#deps.memories);
    const window = await this.follow();
    return this.#buildResult(window, this.meter.estimateCacheState(window.slots, this.#deps.log.clock), {
      dryRun,
    });
  }

  /** The window, updated with new entries of the log. */
  async follow(): Promise<LoadedWindow> {
    const followed = await this.follower.follow();
    if (followed.isNew && this.lastSent.length === 0)
      this.lastSent = findLastSent(followed.window, this.meter);
    await this.planner.applyUpdate(followed);
    if (this.refusals.hasAny) this.refusals.observe(followed.window.slots);
    return followed.window;
  }

  /** Estimated tokens of a request with these messages. */
  estimate(slots: readonly Slot[]): number {
    return estimateRequest(this.settings, slots) + this.#besides;
  }

  /** The most tokens that the provider can plausibly count for the last request with `extraTokens` more. */
  estimateMaxCount(extraTokens: number): number {
    const messages = this.lastSent.map(({ message }) => message);
    return estimateMaxCount(messages, this.sentTokens + extraTokens, this.settings.isFrameKnown);
  }

  /** True if no provider can plausibly count so many tokens for the last request. */
  isImplausibleCount(counted: number, extraTokens: number): boolean {
    const { isFrameKnown } = this.settings;
    // Media are summed only if the rest does not explain the count.
    if (!(counted > estimateMaxCount([], this.sentTokens + extraTokens, isFrameKnown))) return false;
    return counted > this.estimateMaxCount(extraTokens);
  }

  /** Makes the next `follow` load the window from scratch. */
  reload(): void {
    this.follower.forget();
  }

  /** The messages held in memory. */
  get held(): readonly Slot[] {
    return this.follower.held;
  }

  /** Drops all state about the window, its plan and the last request. */
  forget(): void {
    this.follower.forget();
    this.planner.forget();
    this.#pager?.forget();
    this.lastSent = [];
  }

  /** Keeps to a limit that the provider has named, so that it is not refused again. */
  #learnLimit(): void {
    const { limits } = this.settings;
    const window = this.refusals.provenLimit;
    const reserve = limitReserve(window, limits.reserve);
    const most = window - reserve;
    const learned = { ...limits, window, reserve, most, from: Math.min(limits.from, most) };
    this.settings = { ...this.settings, limits: learned };
    this.planner = new PolicyPlanner(this.settings, this.meter, this.#deps.session);
    this.planner.setSystem(this.estimate([]));
    this.reload();
  }

  /** Takes pages out of a window that is too large, oldest first, for a policy that would never do so. */
  async #dropPages(window: LoadedWindow, cache: CacheState, { dryRun }: FitOptions): Promise<LoadedWindow> {
    if (!window.slots.some(isPage)) return window;
    let over = this.#computeExcess(window);
    const leaving: Slot[] = [];
    for (const page of window.slots.filter(isPage)) {
      if (over <= 0) break;
      leaving.push(page);
      over -= page.tokens;
    }
    if (leaving.length === 0) return window;
    if (dryRun) return { ...window, slots: window.slots.filter((slot) => !leaving.includes(slot)) };
    let left = window;
    for (const slot of leaving) {
      const page = findPageOverlay(left, slot);
      if (!page) continue;
      const without = left.slots.filter((other) => other !== slot);
      const proposed = { slots: without, isForced: true, reason: PAGE_OVER };
      const planned = planEdit(this.#describeCall(cache), left, proposed);
      const overlay = await this.#writer.revert(left, page, planned);
      if (!overlay) continue;
      left = await this.follower.apply(overlay);
      this.planner.forget();
    }
    return left;
  }

  /** Tokens by which a window exceeds its limit; negative if it fits. */
  #computeExcess(window: LoadedWindow): number {
    const { forcedTokens = Number.POSITIVE_INFINITY } = this.refusals;
    return this.estimate(window.slots) - Math.min(this.planner.computeMost(window), forcedTokens);
  }

  /** Adds the content that the newest message asks for and that has left the window, stored as an overlay. */
  async #addPage(
    window: LoadedWindow,
    cache: CacheState,
    { dryRun, signal }: FitOptions,
  ): Promise<LoadedWindow & { readonly page?: PlannedEdit }> {
    if (!this.#pager || dryRun || !hasRemovedContent(window)) return window;
    const most = this.meter.estimatedWithin(this.settings.limits.most);
    const room = Math.min(most, this.refusals.forcedTokens ?? most) - this.estimate(window.slots);
    const page = await this.#pager.find(window, room, signal);
    if (!page) return window;
    const slot = { ...page.slot, tokens: this.settings.tokensOf(page.slot.message) };
    const proposed = { slots: [...window.slots, slot], isForced: false, reason: page.reason };
    const planned = planEdit(this.#describeCall(cache), window, proposed);
    const overlay = await this.#writer.storePage(window, page.edit, planned);
    if (overlay === undefined) return window;
    const paged = await this.follower.apply(overlay);
    const shown = paged.slots.findLast(isPage);
    if (shown) this.planner.observe(shown);
    return { ...paged, page: { ...planned, overlay: overlay.seq } };
  }

  /** Adds a summary because the provider says that the window is too large, regardless of estimates. */
  async forceSummary(window: LoadedWindow): Promise<void> {
    await this.#summarize(
      window,
      this.meter.estimateCacheState(window.slots, this.#deps.log.clock),
      true,
      undefined,
    );
  }

  async #summarize(
    window: LoadedWindow,
    cache: CacheState,
    isRefused: boolean,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { compactor } = this.#deps;
    if (!compactor) return false;
    const state = buildCompactionState({ ...this.#describeCall(cache), isRefused }, window);
    return compactor.compactIfDue(state, signal);
  }

  /** The next call, as the plan of an edit or a summary sees it. */
  #describeCall(cache: CacheState) {
    return {
      settings: this.settings,
      meter: this.meter,
      cache,
      expectedCalls: this.planner.calls,
      lastSent: this.lastSent,
    };
  }

  /** Memories are sent with every request; they count toward its size, and policies cannot cut them. */
  async #readMemories(source: MemoriesSource): Promise<void> {
    const memories = await source.read();
    if (this.#hasReadMemories && memories === this.#memories) return;
    this.#hasReadMemories = true;
    this.#memories = memories;
    this.settings = { ...this.settings, memories: estimateText(this.#memories ?? "") };
    this.planner.setSystem(this.estimate([]));
  }

  async #buildResult(
    window: LoadedWindow & { readonly page?: PlannedEdit },
    cache: CacheState,
    { dryRun }: FitOptions,
    {
      plan,
      isSummarized = false,
      isTouchUp = false,
    }: { readonly plan?: PlannedEdit; readonly isSummarized?: boolean; readonly isTouchUp?: boolean } = {},
  ): Promise<FittedWindow> {
    const messages = await restoreMessages(window.slots, this.#deps.log.blobs);
    if (!dryRun) {
      this.lastSent = window.slots;
      const { system, tools } = this.settings;
      if (plan || window.page || isSummarized) this.#hasNewEdit = true;
      this.sentTokens = estimateRequest(this.settings, window.slots);
      this.sentSizes = {
        estimatedTokens: this.sentTokens,
        uneditedTokens: system + tools + window.lineTokens,
        ...(this.#hasNewEdit && { priorTokens: this.meter.uneditedTokens }),
        isHot: cache === "hot",
      };
    }
    return {
      messages,
      ...measureWindow(window, this.settings, this.meter),
      facts: this.settings.facts,
      cache,
      ...dropUndefined({ memories: this.#memories }),
      ...(plan && (isTouchUp ? { touchUp: plan } : { plan })),
      ...dropUndefined({ page: window.page }),
    };
  }
}

/** Throws WINDOW_STUCK if an edit leaves an oversized request at about the same size. */
function checkProgress(tokens: Comparison, { limits, policy }: WindowSettings): void {
  if (isStuck({ before: tokens.without, after: tokens.with }, limits.most))
    throw createStuckError(policy.name, tokens, limits.most);
}

/** The last request of a session that was reopened: all slots before the reply to it. */
function findLastSent({ slots }: LoadedWindow, { lastAt }: Meter): readonly Slot[] {
  if (lastAt === undefined) return [];
  const reply = slots.findLastIndex(({ at, message }) => at <= lastAt && message.role === "assistant");
  return slots.slice(0, Math.max(0, reply));
}

/** Describes a window for the decision whether it needs a summary. */
function buildCompactionState(
  { settings, meter, cache, expectedCalls, isRefused }: CompactedCall,
  loaded: LoadedWindow,
): CompactionState {
  const { limits, facts, modelSettings, policy } = settings;
  const estimated = estimateRequest(settings, loaded.slots);
  const tokens = meter.counted(estimated);
  return {
    tokens,
    window: limits.window,
    messages: loaded.slots.length,
    loaded,
    countedPerEstimated: tokens / Math.max(1, estimated),
    modelSettings,
    policyTurns: policy.maxTurns?.(limits.window),
    isForced: isRefused || tokens > limits.most,
    excessTokens: Math.max(tokens - limits.most, isRefused ? tokens * REFUSED_EXCESS : 0),
    isHot: cache !== "cold",
    expectedCalls,
    facts,
    extractShare: policy.extractShare,
  };
}
