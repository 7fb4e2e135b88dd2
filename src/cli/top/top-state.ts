import { readRequestUsage } from "../../conversation/spending/request-usage.ts";
import { UsageSums } from "../../conversation/spending/usage-sums.ts";
import type { Kernel, SessionId } from "../../index.ts";
import { findOrigin } from "../../model/session-origin.ts";
import { countPromptTokens } from "../../window-entry.ts";
import { listSessions } from "../find-session.ts";
import { listActiveTasks } from "../tasks/collect-tasks.ts";
import { getTaskTitle } from "../tasks/format-task.ts";
import type { GatewayView } from "./gateway-view.ts";

/** One conversation of the live view. */
export interface TopConversation {
  readonly session: SessionId;
  readonly title?: string;
  readonly agent?: string;
  readonly model?: string;
  /** Tokens of the last request, and the window of its model. */
  readonly tokens: number;
  readonly window: number;
  /** Share of all input tokens that came from the provider's cache; null without input. */
  readonly cacheShare: number | null;
  readonly cost: number;
  readonly requests: number;
  readonly usedAt: number;
  readonly isActive: boolean;
}

/** One running task. */
interface TopTask {
  readonly id: string;
  readonly title: string;
  readonly state: string;
  readonly createdAt: number;
}

/** Everything that the live view shows. */
export interface TopState {
  readonly at: number;
  /** Where the numbers come from. */
  readonly source: "gateway" | "store";
  readonly url: string | null;
  readonly conversations: readonly TopConversation[];
  readonly tasks: readonly TopTask[];
  readonly totals: { readonly requests: number; readonly cost: number; readonly cacheShare: number | null };
  readonly store: { readonly logBytes: number; readonly blobBytes: number; readonly indexBytes: number };
  /** The memory of the gateway's process; null without one. */
  readonly memory: GatewayView["memory"] | null;
  readonly notices: readonly string[];
}

/** Sessions among which the most recently used are looked for. */
const MAX_CANDIDATES = 200;

/** Reads the state of store and gateway; usage of an unchanged session is not read again. */
export class TopReader {
  readonly #kernel: Kernel;
  readonly #sums = new Map<SessionId, { readonly seq: number; readonly sums: UsageSums }>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  async read(gateway: GatewayView | undefined, limit: number): Promise<TopState> {
    const kernel = this.#kernel;
    const used: { readonly id: SessionId; readonly at: number; readonly seq: number }[] = [];
    const threads = gateway?.threads.map(({ session }) => session) ?? [];
    const listed = new Set([...threads, ...(await this.#listRecent())]);
    for (const id of listed) {
      if (!(await kernel.find(id))) continue;
      await using session = await kernel.session(id);
      const { seq, at } = await session.head();
      used.push({ id, seq, at });
    }
    used.sort((one, other) => other.at - one.at);
    const conversations: TopConversation[] = [];
    for (const { id, seq, at } of used.slice(0, limit))
      conversations.push(await this.#readConversation(id, seq, at, gateway));
    const tasks = await Promise.all(
      (await listActiveTasks(kernel)).slice(0, limit).map(async ({ id, state, createdAt }) => {
        const { plan } = await kernel.tasks.sketch(id);
        return { id, title: getTaskTitle(plan), state, createdAt };
      }),
    );
    const { logBytes, blobBytes, memoryBytes } = await kernel.size();
    return {
      at: Date.now(),
      source: gateway ? "gateway" : "store",
      url: gateway?.url ?? null,
      conversations,
      tasks,
      totals: this.#sumTotals(conversations.map(({ session }) => session)),
      store: { logBytes, blobBytes, indexBytes: memoryBytes },
      memory: gateway?.memory ?? null,
      notices: gateway?.notices ?? [],
    };
  }

  async #listRecent(): Promise<readonly SessionId[]> {
    const ids: SessionId[] = [];
    for await (const { id, relation } of listSessions(this.#kernel)) {
      if (relation !== "child" && !id.startsWith("memory:")) ids.push(id);
      if (ids.length === MAX_CANDIDATES) break;
    }
    return ids;
  }

  async #readConversation(
    id: SessionId,
    seq: number,
    usedAt: number,
    gateway: GatewayView | undefined,
  ): Promise<TopConversation> {
    const record = await this.#kernel.find(id);
    const sums = await this.#readSums(id, seq);
    const { last, total } = sums;
    const thread = gateway?.threads.find(({ session }) => session === id);
    const model = thread?.model || last?.model;
    const { agent } = record ? findOrigin(record) : {};
    const name = thread?.client ?? agent;
    return {
      session: id,
      ...(record?.title !== undefined && { title: record.title }),
      ...(name !== undefined && { agent: name }),
      ...(model && { model }),
      tokens: thread?.tokens ?? (last ? countPromptTokens(last.totals) : 0),
      window: thread?.window ?? (model ? this.#kernel.modelFacts(model).window : 0),
      cacheShare: computeCacheShare(total),
      cost: total.cost,
      requests: total.requests,
      usedAt,
      isActive: (thread?.inFlight ?? 0) > 0,
    };
  }

  async #readSums(id: SessionId, seq: number): Promise<UsageSums> {
    const known = this.#sums.get(id);
    if (known?.seq === seq) return known.sums;
    const sums = new UsageSums();
    await using session = await this.#kernel.session(id);
    for await (const spent of readRequestUsage(session, (model) => this.#kernel.modelFacts(model)))
      sums.add(spent);
    this.#sums.set(id, { seq, sums });
    return sums;
  }

  #sumTotals(ids: readonly SessionId[]): TopState["totals"] {
    const all = ids.flatMap((id) => this.#sums.get(id)?.sums.total ?? []);
    const sum = (of: (one: (typeof all)[number]) => number) => all.reduce((total, one) => total + of(one), 0);
    const tokens = {
      inputTokens: sum(({ inputTokens }) => inputTokens),
      cacheReadTokens: sum(({ cacheReadTokens }) => cacheReadTokens),
      cacheWriteTokens: sum(({ cacheWriteTokens }) => cacheWriteTokens),
    };
    return {
      requests: sum(({ requests }) => requests),
      cost: sum(({ cost }) => cost),
      cacheShare: computeCacheShare(tokens),
    };
  }
}

function computeCacheShare(tokens: {
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}): number | null {
  const { inputTokens, cacheReadTokens, cacheWriteTokens } = tokens;
  const all = inputTokens + cacheReadTokens + cacheWriteTokens;
  return all === 0 ? null : cacheReadTokens / all;
}
