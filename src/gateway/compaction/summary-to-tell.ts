import { clearedIn } from "../../index.ts";
import type { Call } from "../thread/call.ts";
import { summaryKey } from "./summary.ts";

/**
 * The summary that stands in the window of a call because its client asked for that, as long as the client does not say it
 * itself: then it has to be told. Undefined where there is none.
 */
export function summaryToTell({ asked, fitted, pieces, violations }: Call): string | undefined {
  const { api, edits = [], isDryRun, compactions } = asked;
  const isWanted = api.name === "anthropic" && edits.some(({ type }) => type === "compact_20260112");
  // Where the window was not sent after all, no summary stands in it.
  if (!isWanted || isDryRun || !fitted || !pieces || violations.length > 0) return undefined;
  const { summary } = clearedIn(fitted.slots);
  const said = compactions?.last?.text;
  const isSaid = summary !== undefined && said !== undefined && summaryKey(said) === summaryKey(summary);
  return isSaid ? undefined : summary;
}
