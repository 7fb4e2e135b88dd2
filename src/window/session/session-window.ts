import { checkFields, checkList } from "../../model/argument-checks.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { SerialQueue } from "../../model/base/serial-queue.ts";
import { checkNames } from "../../model/edit-distance.ts";
import type { Entry, MessageBody, UsageBody } from "../../model/entry.ts";
import type { Json } from "../../model/json.ts";
import { checkUsage, type Usage } from "../../model/usage.ts";
import type { ProviderFailure } from "../../wire/provider-failure.ts";
import type { InputChange } from "../../wire/wire.ts";
import { detectOutputOverflow, detectOverflow, type Overflow } from "../limits/overflow.ts";
import { detectPoison } from "../limits/poison.ts";
import { sumSlotTokens } from "../slot.ts";
import { countInputChanges } from "../usage/input-changes.ts";
import { buildUsageMeta, countPromptTokens } from "../usage/usage-meta.ts";
import type { FittedWindow } from "./fitted-window.ts";
import { checkOverflowCounts, fitSmaller, lowerOutput, mendDefect, removePoison } from "./heal-window.ts";
import type { FitOptions, WindowOptions } from "./session-window-options.ts";
import { WindowFitter } from "./window-fitter.ts";
import type { WindowFitterDeps } from "./window-fitter-deps.ts";

const FIT_OPTIONS = ["signal", "dryRun", "cache", "besides"];
const FIT_FIELDS = { signal: "signal?", dryRun: "boolean?", besides: "number?" } as const;

/** A token is about four characters, and messages keep further fields. */
const BYTES_PER_TOKEN = 6;

/** Facts that a caller knows about a usage report in addition to its counts. */
export interface ReportOptions {
  /** The provider's id of the request. */
  readonly request?: string;
  readonly model?: string;
  /** True if the provider ran its own tools for the reply, so its count covers more than the request. */
  readonly ranServerTools?: boolean;
  /** Estimated tokens of the request that the caller added to it and an agent without longhaul would not send. */
  readonly addedTokens?: number;
  /** Time that the caller took before it sent the request. */
  readonly overheadMs?: number;
  /** Number of times that the caller sent the request again with another window before it was answered. */
  readonly retries?: number;
  /** Replaces the metadata of the report before it is stored. */
  readonly describe?: ((report: Omit<UsageBody, "kind">) => UsageBody["meta"]) | undefined;
  /** The provider's own explanation of a cache miss, stored as `meta.cacheDiagnosis`. */
  readonly diagnosis?: { readonly [field: string]: unknown };
  /** Changes of the provider to the request before the model saw it, stored as `meta.inputChanges`. */
  readonly inputChanges?: readonly InputChange[];
}

/** The window of a session's calls to one model. Operations run one at a time, in the order of the calls. */
export class SessionWindow {
  readonly #deps: WindowFitterDeps;
  readonly #fitter: WindowFitter;
  #extraTokens = 0;
  readonly #queue = new SerialQueue();

  constructor(parts: WindowFitterDeps, options: WindowOptions) {
    this.#deps = parts;
    this.#fitter = new WindowFitter(parts, options);
  }

  /**
   * Returns the messages of the next call, within the model's window. Removed content is recorded as an overlay with a
   * receipt.
   */
  fit(options: FitOptions = {}): Promise<FittedWindow> {
    return this.#queue.run(async () => {
      checkNames("options", checkFields("options", options, FIT_FIELDS), FIT_OPTIONS);
      this.#extraTokens = 0;
      const fitted = await this.#fitter.fit(options);
      this.#fitter.planner.scheduleDigest(this.#fitter.lastSent);
      return fitted;
    });
  }

  /** Takes messages and usage that were just appended to the session, so that the next `fit` need not read them. */
  takeWritten(entries: readonly Entry<MessageBody | UsageBody>[]): void {
    checkList("entries", entries, { session: "text", seq: "number" });
    for (const entry of entries)
      if (entry.kind !== "usage") checkFields("entries", entry, { message: "object" });
    this.#fitter.follower.takeWritten(entries);
  }

  /** The window as log and overlays define it now, whether it fits or not; changes nothing. */
  look(): Promise<FittedWindow> {
    return this.#queue.run(() => this.#fitter.look());
  }

  /** Sets the estimated tokens sent in addition to the last fitted window, which the provider counts as well. */
  sendsBesides(tokens: number): void {
    this.#extraTokens = tokens;
  }

  /** Stores the provider's usage report for the last fitted request, and learns from it if it is plausible. */
  report(usage: Usage, options: ReportOptions = {}): Promise<Entry<UsageBody>> {
    return this.#queue.run(async () => {
      checkFields("options", options, {
        request: "text?",
        model: "text?",
        addedTokens: "number?",
        overheadMs: "number?",
        retries: "number?",
        describe: "function?",
      });
      const body = { kind: "usage", ...this.buildReport(usage, options) } as const;
      return this.#deps.log.appendOne<UsageBody>(this.#deps.session, { body });
    });
  }

  /**
   * Builds the same report for callers that store it themselves, such as tasks; it is learned from once it is in the
   * log.
   */
  buildReport(usage: Usage, options: ReportOptions = {}): Omit<UsageBody, "kind"> {
    const {
      model = this.#fitter.settings.model,
      request,
      ranServerTools = false,
      addedTokens = 0,
      overheadMs = 0,
      retries = 0,
      describe,
      diagnosis,
      inputChanges = [],
    } = checkFields("options", options);
    checkUsage(usage);
    const { sentSizes, settings } = this.#fitter;
    const { memories } = this.#deps;
    this.#fitter.recordReply();
    const sizes = sentSizes && {
      ...sentSizes,
      estimatedTokens: sentSizes.estimatedTokens + this.#extraTokens,
      uneditedTokens: Math.max(0, sentSizes.uneditedTokens - addedTokens),
      overheadMs,
      retries,
    };
    const isUnreliable =
      ranServerTools || this.#fitter.isImplausibleCount(countPromptTokens(usage), this.#extraTokens);
    const { meta } = sizes
      ? buildUsageMeta(sizes, isUnreliable, {
          system: settings.system,
          tools: settings.tools + this.#extraTokens,
          memories: memories && { agent: memories.agent, tokens: settings.memories },
        })
      : {};
    const told = {
      ...(diagnosis && { cacheDiagnosis: toJson(diagnosis) }),
      ...(inputChanges.length > 0 && { inputChanges: countInputChanges(inputChanges) }),
    };
    const all = Object.keys(told).length > 0 ? { ...meta, ...told } : meta;
    const report = { usage, model, ...dropUndefined({ request, meta: all }) };
    const described = describe?.(report);
    return described ? { ...report, meta: described } : report;
  }

  /** Removes the numbers from an overflow error if they cannot refer to the last fitted request. */
  checkOverflowCounts(overflow: Overflow): Overflow {
    checkFields("overflow", overflow, {
      message: "text",
      limitTokens: "number?",
      requestedTokens: "number?",
      outputTokens: "number?",
    });
    return checkOverflowCounts(this.#fitter, overflow, this.#extraTokens);
  }

  /**
   * Returns a window for another try after a provider has refused the last one: smaller after an overflow, the same
   * with `maxOutputTokens` if only the output was too large, as the conversation came if an edit had torn pairs or blocks
   * (`defect`), or without the block that was rejected. Undefined if the failure is unrelated to the window. Throws
   * WINDOW_OVERFLOW when the three tries of the running turn are used up, whichever handle made them.
   */
  heal(failure: ProviderFailure): Promise<FittedWindow | undefined> {
    return this.#queue.run(async () => {
      checkFields("failure", failure);
      const overflow = detectOverflow(failure);
      if (overflow) return this.#fitAfter(this.checkOverflowCounts(overflow));
      const output = detectOutputOverflow(failure);
      if (output) return this.#lowerOutput(this.checkOverflowCounts(output));
      const poison = detectPoison(failure);
      if (!poison) return undefined;
      const mended = await mendDefect(this.#fitter, poison, this.#deps);
      if (mended) return mended;
      const isOut = await removePoison(this.#fitter, poison, this.#deps);
      return isOut ? this.#fitter.fit({}) : undefined;
    });
  }

  /** Number of messages held for the next call. */
  itemCount(): number {
    return this.#fitter.held.length;
  }

  /** Approximate bytes of the messages held for the next call. */
  sizeBytes(): number {
    return sumSlotTokens(this.#fitter.held) * BYTES_PER_TOKEN;
  }

  /** Drops the messages held; the next call reads them from the log again. Waits for operations in progress. */
  drop(): Promise<void> {
    return this.#queue.run(async () => this.#fitter.forget());
  }

  async #fitAfter(overflow: Overflow): Promise<FittedWindow | undefined> {
    const lowered = await this.#lowerOutput(overflow);
    return lowered ?? fitSmaller(this.#fitter, overflow, this.#extraTokens, this.#deps);
  }

  #lowerOutput(overflow: Overflow): Promise<FittedWindow | undefined> {
    return lowerOutput(this.#fitter, overflow, this.#extraTokens);
  }
}

/** Explanations are short; a longer one is cut, so that a report stays small. */
const MAX_DIAGNOSIS_CHARACTERS = 2_000;

function toJson(diagnosis: NonNullable<ReportOptions["diagnosis"]>): Json {
  const text = JSON.stringify(diagnosis);
  return text.length <= MAX_DIAGNOSIS_CHARACTERS
    ? (JSON.parse(text) as Json)
    : text.slice(0, MAX_DIAGNOSIS_CHARACTERS).toWellFormed();
}
