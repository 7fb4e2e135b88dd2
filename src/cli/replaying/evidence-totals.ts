import { POLICIES, type Policy } from "../../window-entry.ts";
import type { EvidenceCase, EvidenceScore } from "./evidence-score.ts";
import type { ReplayTotals } from "./replay-totals.ts";

/** Replay totals with the share of questions whose whole evidence was in the window. */
export interface TotalsWithEvidence extends ReplayTotals {
  readonly evidence?: number;
  /** The same share without paging. */
  readonly unpaged?: number;
}

/**
 * Lists the settings to score: every policy without paging, and the default policy also with it. The other policies
 * come from systems that do not page.
 */
export function listEvidenceCases(
  policies: readonly Policy[],
  windows: readonly number[],
): readonly EvidenceCase[] {
  const known = policies.filter(({ name }) => POLICIES.some((policy) => policy.name === name));
  return known.flatMap(({ name: policy }) =>
    windows.flatMap((window) =>
      (policy === "longhaul" ? [true, false] : [false]).map((isPaging) => ({ policy, window, isPaging })),
    ),
  );
}

/** Adds the evidence shares to replay totals. */
export function addEvidence(
  totals: readonly ReplayTotals[],
  evidence: readonly EvidenceScore[],
): readonly TotalsWithEvidence[] {
  return totals.map((total) => {
    const shareOf = (isPaging: boolean) => {
      const found = evidence.find(
        (score) =>
          score.policy === total.policy && score.window === total.window && score.isPaging === isPaging,
      );
      return found && found.questions > 0 ? found.whole / found.questions : undefined;
    };
    const [paged, unpaged] = [shareOf(true), shareOf(false)];
    const whole = paged ?? unpaged;
    return {
      ...total,
      ...(whole !== undefined && { evidence: whole }),
      ...(unpaged !== undefined && { unpaged }),
    };
  });
}
