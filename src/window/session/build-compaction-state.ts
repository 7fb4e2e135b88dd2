import type { CacheState } from "../../model/receipt.ts";
import { estimateRequest } from "./estimate-request.ts";
import type { LoadedWindow } from "./load-window.ts";
import type { Meter } from "./meter.ts";
import type { CompactionState } from "./window-compactor.ts";
import type { WindowSettings } from "./window-settings.ts";

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

/** Describes a window for the decision whether it needs a summary. */
export function buildCompactionState(
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
