import type { UsageBody } from "../../kernel/faces/log.ts";
import { addReport, type Ledger } from "../../kernel/faces/window.ts";
import type { Entry } from "../../kernel/index.ts";

/** Adds a usage entry to a ledger, in which the last report of each request counts; only reported costs are added. */
export function addUsage(ledger: Ledger, entry: Entry<UsageBody>): Ledger {
  return addReport(ledger, { at: entry.at, body: entry }, () => undefined);
}
