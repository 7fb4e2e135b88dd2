import type { BudgetAmounts, BudgetGate } from "../../../kernel/faces/people.ts";
import {
  computeReportCost,
  countPromptTokens,
  type Prices,
  parseUsageReport,
} from "../../../kernel/faces/window.ts";
import type { Kernel, SessionId, Usage } from "../../../kernel/index.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import { addCacheRecord } from "../../cache/cache-record.ts";
import { isRefreshWorth, type PauseSample, REFRESH_EARLY_MS } from "../../cache/pauses.ts";
import type { GatewayConfig } from "../config/config.ts";
import { spendUnasked } from "../limits/own-spending.ts";
import { buildOutgoingBody } from "../outgoing/outgoing-body.ts";
import { cutBody, fieldValue } from "../request/cut-body.ts";
import { type ConnectionAgents, sendUpstream, type UpstreamRequest } from "../upstream/send-upstream.ts";
import type { RawHeaders } from "../upstream/upstream-headers.ts";

/** The last request of a conversation, as it can be sent again. */
export interface KeptRequest {
  readonly session: SessionId;
  readonly model: string;
  readonly upstream: string;
  readonly url: UpstreamRequest["url"];
  /** Headers for a body of a given length. */
  readonly headers: (bodyLength: number) => RawHeaders;
  readonly body: Buffer;
  readonly sentAt: number;
  readonly ttlMs: number;
  /** Tokens in the provider's cache. */
  readonly tokens: number;
  readonly prices: Prices;
  readonly pauses: () => PauseSample;
  /** The person, undefined on a gateway without tokens, and the project, which budgets count. */
  readonly person: string | undefined;
  readonly project: string | undefined;
  /** Admits the person once more, by the token of this request. */
  readonly isAdmitted: () => Promise<boolean>;
}

interface KeepAliveDeps {
  readonly kernel: Kernel;
  readonly config: () => Pick<GatewayConfig, "cache" | "limits">;
  readonly gate: Pick<BudgetGate, "reserve">;
  readonly agents: ConnectionAgents;
  readonly onError: (error: unknown) => void;
  /** Called with the dollars of a refresh. */
  readonly onSpent: (upstream: string, dollars: number) => void;
  readonly now?: () => number;
  /** Calls back after a time, unless the returned function is called before. */
  readonly schedule?: (run: () => void, ms: number) => () => void;
}

/** Maximum bytes of all requests that are kept, and the largest of them. */
const MAX_KEPT_BYTES = 64 * 1_024 * 1_024;
const MAX_BODY_BYTES = 8 * 1_024 * 1_024;

/**
 * Sends the last request of an idle conversation again before the provider's cache expires, while that is expected to
 * save more than it costs and the day's ceiling is not reached. The reply is cut after its usage; the usage is stored
 * with the conversation, so that every sum contains it.
 */
export class KeepAlive {
  readonly #deps: KeepAliveDeps;
  readonly #now: () => number;
  readonly #schedule: NonNullable<KeepAliveDeps["schedule"]>;
  readonly #kept = new BoundedMap<SessionId, KeptRequest>({
    max: MAX_KEPT_BYTES,
    weigh: ({ body }) => body.length,
  });
  readonly #timers = new Map<SessionId, () => void>();
  #isClosed = false;

  constructor(deps: KeepAliveDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? Date.now;
    this.#schedule = deps.schedule ?? scheduleTimer;
  }

  get sizeBytes(): number {
    return this.#kept.weight;
  }

  /** A conversation is in use: its last request is not sent again. */
  forget(session: SessionId): void {
    this.#timers.get(session)?.();
    this.#timers.delete(session);
    this.#kept.delete(session);
  }

  /** Keeps the request of a conversation that is idle from now on. */
  keep(request: KeptRequest): void {
    const { session, body } = request;
    this.forget(session);
    if (this.#isClosed || body.length > MAX_BODY_BYTES) return;
    this.#kept.set(session, request);
    this.#arm(request, request.sentAt);
  }

  #arm(request: KeptRequest, aliveAt: number): void {
    const ms = aliveAt + request.ttlMs - REFRESH_EARLY_MS - this.#now();
    const run = () => void this.#refresh(request).catch(this.#deps.onError);
    this.#timers.set(request.session, this.#schedule(run, Math.max(0, ms)));
  }

  async #refresh(request: KeptRequest): Promise<void> {
    const { session, sentAt, ttlMs, prices, pauses } = request;
    const { cache } = this.#deps.config();
    if (this.#kept.get(session) !== request || !cache.keepAlive) return this.forget(session);
    const { cacheRead: read, cacheWrite: write, cacheWriteHour: writeHour } = prices;
    const idleMs = this.#now() - sentAt;
    if (!isRefreshWorth(pauses(), { idleMs, ttlMs, prices: { read, write, writeHour } }))
      return this.forget(session);
    const { model, tokens, person, project, isAdmitted } = request;
    if (await this.#isOutdated(request)) return this.forget(session);
    const startedAt = this.#now();
    const usage = await spendUnasked(
      this.#deps,
      {
        ...{ session, person, project, isAdmitted },
        models: [model],
        estimate: { tokens, usd: (tokens * read) / 1_000_000 },
        ceiling: { purpose: "keep-alive", usd: cache.maxKeepAliveDollars },
      },
      async () => {
        const reply = await this.#send(request);
        return { reply, actual: reply === "unknown" ? undefined : this.#measure(request, reply) };
      },
    );
    if (!usage || usage === "unknown") return this.forget(session);
    await this.#book(request, usage, startedAt);
    // The client may have come back meanwhile.
    if (this.#kept.get(session) === request && !this.#isClosed) this.#arm(request, startedAt);
  }

  /** True if the conversation was deleted or its window changed since: the request may have erased content. */
  async #isOutdated({ session: id, sentAt }: KeptRequest): Promise<boolean> {
    const { kernel } = this.#deps;
    if (!(await kernel.find(id))) return true;
    await using session = await kernel.session(id);
    const marks = session.entries({ direction: "older", kinds: ["overlay", "pin"] });
    for await (const { at } of marks) return at > sentAt;
    return false;
  }

  /**
   * Sends the request again and reads its reply up to the first usage; undefined if it was refused, "unknown" if the
   * reply ends before its usage.
   */
  async #send({ url, headers, body }: KeptRequest): Promise<Usage | "unknown" | undefined> {
    const cut = cutBody(body, "messages");
    const thinking = Object(fieldValue(cut, "thinking")) as { readonly type?: unknown };
    const fields = new Map<string, unknown>([["stream", true]]);
    // A budget for thinking must be smaller than the output, and a change of it would miss the cache.
    if (thinking.type !== "enabled") fields.set("max_tokens", 1);
    const pieces = buildOutgoingBody({ cut }, { pieces: undefined, fields });
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const { agents, config } = this.#deps;
    const { limits } = config();
    const rawHeaders = headers(length);
    const response = await sendUpstream({ agents, url, method: "POST", rawHeaders, body: pieces, limits });
    try {
      if (response.status !== 200) return undefined;
      let text = "";
      for await (const piece of response.body) {
        text += (piece as Buffer).toString("latin1");
        const start = /^data:\s*(\{.*"message_start".*\})\s*$/m.exec(text)?.[1];
        if (start === undefined) continue;
        const usage = parseUsageReport("anthropic", JSON.parse(start).message?.usage);
        return usage ? { ...usage, outputTokens: Math.max(1, usage.outputTokens ?? 0) } : "unknown";
      }
      return "unknown";
    } finally {
      response.body.destroy();
    }
  }

  #measure({ model }: KeptRequest, usage: Usage | undefined): BudgetAmounts {
    if (!usage) return { tokens: 0, usd: 0 };
    const usd = computeReportCost({ usage, model }, (name) => this.#deps.kernel.modelFacts(name)) ?? 0;
    return { tokens: countPromptTokens(usage) + (usage.outputTokens ?? 0), usd };
  }

  async #book(
    { session: id, model, upstream, ttlMs }: KeptRequest,
    usage: Usage,
    sentAt: number,
  ): Promise<void> {
    const { kernel, onSpent } = this.#deps;
    const dollars = computeReportCost({ usage, model }, (name) => kernel.modelFacts(name)) ?? 0;
    onSpent(upstream, dollars);
    const none = { expectedTokens: 0, missedTokens: 0 };
    const record = { state: "hit", ...none, ttlMs, sentAt, isRefresh: true } as const;
    // A conversation that is erased at this moment is not made again.
    await using session = await kernel.existingSession(id);
    await session
      ?.window({ model })
      .report(usage, { model, describe: (report) => addCacheRecord(report, record) });
  }

  /** Stops all refreshes. */
  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#kept.clear();
  }
}

function scheduleTimer(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms).unref();
  return () => clearTimeout(timer);
}
