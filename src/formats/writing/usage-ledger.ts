import type { Entry } from "../../index.ts";
import type { UsageBody } from "../../log-entry.ts";
import { addReport, type Ledger } from "../../window-entry.ts";

/** Adds a usage entry to a ledger, in which the last report of each request counts; only reported costs are added. */
export function addUsage(ledger: Ledger, entry: Entry<UsageBody>): Ledger {
  return addReport(ledger, { at: entry.at, body: entry }, () => undefined);
}
