import type {
  Entry,
  FitOptions,
  FittedWindow,
  MessageBody,
  MessageInput,
  ReportOptions,
  SessionWindow,
  Usage,
} from "../index.ts";
import type { UsageBody } from "../log-entry.ts";
import type { ProviderFailure } from "../window-entry.ts";
import type { CallerMessage, Conversation } from "./conversation.ts";
import { hasRunServerTools } from "./server-tools.ts";
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
}

/** The window of one call of a stateless caller: fitted, healed after a refusal, and given the usage of the reply. */
export class CallWindow<Given extends CallerMessage> {
  readonly #conversation: Conversation<Given>;
  readonly #maxHeals: number;
  #lease: WindowLease;
  #healed = 0;

  constructor(conversation: Conversation<Given>, lease: WindowLease, maxHeals: number) {
    this.#conversation = conversation;
    this.#lease = lease;
    this.#maxHeals = maxHeals;
  }

  get window(): SessionWindow {
    return this.#lease.window;
  }

  /** Number of times the window was healed. */
  get healed(): number {
    return this.#healed;
  }

  /** True while another window may be tried. */
  get canHeal(): boolean {
    return this.#healed < this.#maxHeals;
  }

  /** Replaces the window. */
  replace(lease: WindowLease): void {
    if (lease !== this.#lease) this.#lease.release();
    this.#lease = lease;
  }

  /** Takes messages that were just appended, so that the next `fit` need not read them. */
  takeWritten(entries: readonly Entry<MessageBody>[] | undefined): void {
    if (entries) this.#lease.window.takeWritten(entries);
  }

  fit(options: FitOptions): Promise<FittedWindow> {
    return this.#lease.window.fit(options);
  }

  /** The window of a request that has been sent already. */
  fitSent(): Promise<FittedWindow> {
    return this.#lease.window.fitSent();
  }

  /** A window for another try; undefined if no other window would help. */
  async heal(
    failure: ProviderFailure,
    healWindow: () => Promise<FittedWindow | undefined> = () => this.#lease.window.heal(failure),
  ): Promise<FittedWindow | undefined> {
    const fitted = await healWindow();
    if (fitted) this.#healed++;
    return fitted;
  }

  /** Stores the usage of the reply, and returns its entry. */
  async report({ usage, ...rest }: CallUsage): Promise<Entry<UsageBody>> {
    const entry = await this.#lease.window.report(usage, this.#toReportOptions(rest));
    this.#conversation.recordAppended([entry]);
    return entry;
  }

  /** The same report as the body of an entry, for a caller that stores it together with the reply. */
  buildUsage(used: CallUsage): UsageBody {
    return { kind: "usage", ...this.buildReport(used) };
  }

  /** The same report for a caller that stores it itself. */
  buildReport({ usage, ...rest }: CallUsage): ReturnType<SessionWindow["buildReport"]> {
    return this.#lease.window.buildReport(usage, this.#toReportOptions(rest));
  }

  #toReportOptions({
    model,
    reply,
    request,
    addedTokens,
    overheadMs,
  }: Omit<CallUsage, "usage">): ReportOptions {
    return {
      model,
      ranServerTools: hasRunServerTools(reply),
      retries: this.#healed,
      ...(request !== undefined && { request }),
      ...(addedTokens !== undefined && { addedTokens }),
      ...(overheadMs !== undefined && { overheadMs }),
    };
  }

  /** Returns the window for reuse. Idempotent. */
  end(): void {
    this.#lease.release();
  }
}
