import type { Savings } from "../../../kernel/faces/window.ts";
import type { Usage } from "../../../kernel/index.ts";
import type { WireName } from "../../../wire/wire.ts";

/** The state of the provider's cache for a request, and the price of a miss. */
interface CacheTrace {
  /** "hit", "first", "unreported", or the cause of a miss. */
  readonly verdict: string;
  readonly missedTokens: number;
  /** US dollars; undefined if unknown. */
  readonly missDollars: number | undefined;
}

/** Facts about one request, reported when it ends; never the content of messages. */
export interface Trace {
  readonly id: string;
  readonly startedMs: number;
  readonly api: WireName;
  principal: string;
  client?: string;
  model?: string;
  upstream?: string;
  host?: string;
  session?: string;
  kind?: string;
  /** Title of the conversation; shown only on the terminal of its owner. */
  title?: string;
  isStreamed?: boolean;
  /** Status that the client received. */
  status?: number;
  /** How the request ended, such as "complete" or "client-gone". */
  ending?: string;
  error?: string;
  /** The gateway's own time before the request was sent. */
  overheadMs?: number;
  firstByteMs?: number;
  endedMs?: number;
  bytesIn?: number;
  bytesOut?: number;
  /** Estimated tokens of the request as received and as sent. */
  tokensBefore?: number;
  tokensAfter?: number;
  /** True if the window was edited for this request. */
  isPlanned?: boolean;
  isDryRun?: boolean;
  /** The sentence that tells people of the edit. */
  announcement?: string;
  /** The sentence that advises people to begin a new conversation. */
  advice?: string;
  healed?: number;
  /** The words of the provider about an edit of ours that it refused for torn pairs or blocks. */
  defect?: string;
  /** Blocks of reasoning that the provider did not show to the model. */
  droppedThinking?: number;
  /** Replies whose reasoning longhaul left out of the request for the first time. */
  leftThinking?: number;
  /** Refusals of reasoning behind a changed prefix, by whose change it was. */
  refusedThinking?: { longhaul: number; client: number };
  /** Cost of the request in US dollars; undefined if unknown. */
  spentDollars?: number;
  /** Estimated savings of edits for this request. */
  savings?: Savings;
  usage?: Usage;
  /** The verdict about the provider's cache, without content. */
  cache?: CacheTrace;
  responseModel?: string;
  responseId?: string;
  stopReason?: string;
  recalls?: number;
  /** Minimum number of entries that were not yet indexed at a recall. */
  unindexed?: number;
}
