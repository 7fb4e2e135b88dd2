import type { CacheState } from "../../model/receipt.ts";
import { dropCachePrices } from "../models/drop-cache-prices.ts";
import type { Slot } from "../slot.ts";
import { buildReceipt } from "./build-receipt.ts";
import { estimateRequest } from "./estimate-request.ts";
import type { PlannedEdit } from "./fitted-window.ts";
import type { LoadedWindow } from "./load-window.ts";
import type { Meter } from "./meter.ts";
import type { ProposedWindow } from "./policy-planner.ts";
import type { WindowSettings } from "./window-settings.ts";

/** The call that an edit is planned for. */
interface PlannedCall {
  readonly settings: WindowSettings;
  readonly meter: Meter;
  readonly cache: CacheState;
  readonly expectedCalls: number;
  /** The messages of the last request. */
  readonly lastSent: readonly Slot[];
}

/** An edit that turns a window into a proposed one, with its receipt. */
export function planEdit(
  { settings, meter, cache, expectedCalls, lastSent }: PlannedCall,
  { slots: before, unread }: LoadedWindow,
  { slots: after, isForced, reason }: Pick<ProposedWindow, "slots" | "isForced" | "reason">,
): PlannedEdit {
  const { model, policy } = settings;
  const facts = meter.isUncached ? dropCachePrices(settings.facts) : settings.facts;
  const receipt = buildReceipt({
    model,
    facts,
    policy: policy.name,
    cache,
    isForced,
    expectedCalls,
    system: estimateRequest(settings, []),
    sent: lastSent,
    before,
    after,
    unread: unread ? unread.to - unread.from + 1 : 0,
    counted: (estimated) => meter.counted(estimated),
  });
  return { reason, receipt };
}
