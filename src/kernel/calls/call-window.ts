import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { UsageBody } from "../faces/log.ts";
import type { ProviderFailure } from "../faces/window.ts";
import type { Entry, FittedWindow, MessageInput, ReportOptions, SessionWindow, Usage } from "../index.ts";
import type { CallerMessage, Conversation } from "./conversation.ts";
import type { WindowLease } from "./window-pool.ts";

/** The usage of a call, and the reply that it belongs to. */
export interface CallUsage {
  readonly usage: Usage;
  readonly model: string;
  readonly reply: MessageInput | undefined;
  /** The provider's id of the request. */
  readonly request?: string | undefined;
  /** Estimated tokens that the caller added to the request. */
  readonly addedTokens?: number;
  /** Time before the request was sent. */
  readonly overheadMs?: number | undefined;
  /** Replaces the metadata of the report before it is stored. */
  readonly describe?: ReportOptions["describe"];
  /** The provider's own explanation of a cache miss. */
  readonly diagnosis?: { readonly [field: string]: unknown } | undefined;
}

/** The window of one call of a stateless caller: fitted, healed after a refusal, and given the usage of the reply. */
export class CallWindow<Given extends CallerMessage> {
  readonly #conversation: Conversation<Given>;
  readonly #maxHeals: number;
  #lease: WindowLease;
  window: SessionWindow;
  /** Number of times the window was healed. */
  healed = 0;

  constructor(conversation: Conversation<Given>, lease: WindowLease, maxHeals: number) {
    this.#conversation = conversation;
    this.#lease = lease;
    this.window = lease.window;
    this.#maxHeals = maxHeals;
  }

  /** True while another window may be tried. */
  get canHeal(): boolean {
    return this.healed < this.#maxHeals;
  }

  /** Replaces the window. */
  replace(lease: WindowLease): void {
    if (lease !== this.#lease) this.#lease.release();
    this.#lease = lease;
    this.window = lease.window;
  }

  /** A window for another try; undefined if no other window would help. */
  async heal(
    failure: ProviderFailure,
    healWindow: () => Promise<FittedWindow | undefined> = () => this.window.heal(failure),
  ): Promise<FittedWindow | undefined> {
    const fitted = await healWindow();
    if (fitted) this.healed++;
    return fitted;
  }

  /** Stores the usage of the reply, and returns its entry. */
  async report({ usage, ...rest }: CallUsage): Promise<Entry<UsageBody>> {
    const entry = await this.window.report(usage, this.#toReportOptions(rest));
    this.#conversation.recordAppended([entry]);
    return entry;
  }

  /** The same report for a caller that stores it itself. */
  buildReport({ usage, ...rest }: CallUsage): ReturnType<SessionWindow["buildReport"]> {
    return this.window.buildReport(usage, this.#toReportOptions(rest));
  }

  #toReportOptions({
    model,
    reply,
    request,
    addedTokens,
    overheadMs,
    describe,
    diagnosis,
  }: Omit<CallUsage, "usage">): ReportOptions {
    return {
      model,
      describe,
      ranServerTools: hasRunServerTools(reply),
      retries: this.healed,
      ...dropUndefined({ request, addedTokens, overheadMs, diagnosis }),
    };
  }

  /** Returns the window for reuse. Idempotent. */
  end(): void {
    this.#lease.release();
  }
}

/** Types of blocks and items with which providers report that they ran a tool themselves. */
const SERVER_CALL = /^(?:server_tool_use|mcp_tool_use|\w+_call)$/;
/** Types of calls that the client runs. */
const CLIENT_CALL = /^(?:function|custom_tool|local_shell|shell|apply_patch|computer)_call$/;

/**
 * True if the provider ran its own tools while generating a reply. Providers then report the input of all rounds
 * together, which says nothing about the size of the request.
 */
export function hasRunServerTools(reply: MessageInput | undefined): boolean {
  // Results of client-side tools arrive in a separate message.
  return (reply?.parts ?? []).some(
    (part) => part.type === "tool-result" || (part.type === "raw" && isServerCall(part.value)),
  );
}

/** True for a call that the provider ran. A call with a `call_id` waits for a result from the client. */
function isServerCall(value: unknown): boolean {
  const { type, call_id: callId } = Object(value) as { readonly type?: unknown; readonly call_id?: unknown };
  if (typeof type !== "string" || typeof callId === "string") return false;
  return SERVER_CALL.test(type) && !CLIENT_CALL.test(type);
}
