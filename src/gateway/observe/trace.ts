import type { Usage } from "../../index.ts";
import type { ApiName } from "../api/api.ts";

/** What is told of one request when it has ended; never what was said. */
export interface Trace {
  readonly id: string;
  readonly startedMs: number;
  readonly api: ApiName;
  principal: string;
  client?: string;
  model?: string;
  upstream?: string;
  host?: string;
  session?: string;
  kind?: string;
  isStreamed?: boolean;
  /** Status that the client got. */
  status?: number;
  /** How it ended, as "complete" or "client-gone". */
  ending?: string;
  error?: string;
  /** Time of our own, before the request went out. */
  overheadMs?: number;
  firstByteMs?: number;
  endedMs?: number;
  bytesIn?: number;
  bytesOut?: number;
  /** Estimated tokens of the request as it came and as it went out. */
  tokensBefore?: number;
  tokensAfter?: number;
  /** True if the window was edited for this very request. */
  isPlanned?: boolean;
  isDryRun?: boolean;
  healed?: number;
  /** Dollars that edits are expected to save with this request. */
  savedDollars?: number;
  usage?: Usage;
  responseModel?: string;
  responseId?: string;
  stopReason?: string;
  recalls?: number;
  /** Entries, at least, that a recall could not look at yet. */
  unindexed?: number;
}
