import { readFileSync, renameSync, writeFileSync } from "node:fs";
import {
  type ClientEdits,
  clientEdits,
  POLICIES,
  type Policy,
  type Slot,
} from "../../../kernel/faces/window.ts";
import type { Json, Kernel } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { FaultError } from "../../../wire/fault-error.ts";
import type { Wire, WireName } from "../../../wire/wire.ts";
import type { GatewayConfig, RecallOffer, UpstreamConfig } from "../config/config.ts";
import type { Incoming } from "../door/read-body.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";
import type { SharedStates } from "../limits/shared-states.ts";
import type { ByteRange } from "../request/cut-body.ts";
import { findCompactions } from "../request/find-compactions.ts";
import { LIFT_FROM_BYTES } from "../request/lift.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import {
  buildEditsKey,
  type ClearThinkingEdit,
  type ClearToolUsesEdit,
  type CompactEdit,
  type ContextEdit,
  estimateBytes,
  getContextManager,
  readContextManagement,
  readLead,
} from "../request/request-fields.ts";
import type { CallRequest, FrameText, TokenLimits } from "../thread/call-request.ts";
import type { Thread } from "../thread/thread.ts";
import type { Target } from "../upstream/target.ts";

/** Builds the request to a thread. Throws `FaultError` for edits that cannot be carried out. */
export function buildCallRequest(
  { api, messages, fields }: ParsedRequest,
  target: Target,
  { signal }: Pick<Incoming, "signal">,
  services: { readonly config: () => GatewayConfig; readonly modelLimits: ModelLimits },
): CallRequest {
  const { upstream, model } = target;
  const config = services.config();
  const limits = services.modelLimits.getLimits(target, config.threshold);
  const isMore = fields.isChained;
  const compactions = api.name === "anthropic" ? findCompactions(messages.cut) : undefined;
  const isManagedHere = getContextManager(upstream) === "gateway";
  // A body that cannot be split into messages has no window to manage.
  const isWhole = isMore || (messages.cut.listFrom !== undefined && messages.list.length > 0);
  // Neither has one whose beginning the upstream has summarized itself and does not count.
  const isOurs = isWhole && !api.isSentUnchanged && (isManagedHere || !compactions?.last);
  const policyName = isOurs ? (config.routes[api.name]?.policy ?? config.policy) : "none";
  const isCompacted = compactions && isManagedHere && policyName !== "none" && !config.dryRun;
  // Only the upstream can clear content that it stores.
  const { context_management } = fields.all;
  const management = choosePolicy(
    api,
    context_management,
    upstream,
    isMore ? "none" : policyName,
    limits,
    config.when,
  );
  const { cut } = messages;
  const lead = cut.elements.slice(0, messages.lead);
  for (const name of api.leadFields) {
    const range = cut.fields.get(name);
    if (range) lead.push(range);
  }
  const tools = cut.fields.get("tools");
  return {
    api,
    messages,
    signal,
    isDryRun: config.dryRun,
    isPaging: config.paging,
    shrink: config.shrink,
    ...management,
    ...(isMore && { policy: policyName, policyKey: policyName }),
    ...(isCompacted && { compactions }),
    frame: {
      model,
      maxTokens: fields.maxTokens,
      leadBytes: lead.reduce((sum, { from, to }) => sum + to - from, 0),
      toolsBytes: tools ? tools.to - tools.from : 0,
      readLead: () => estimateLargeLead(messages.cut.bytes, lead) ?? readLead(api, messages),
      readTools: () => (tools ? textOrTokens(messages.cut.bytes.subarray(tools.from, tools.to)) : ""),
    },
  };
}

function textOrTokens(bytes: Buffer): FrameText {
  return bytes.length < LIFT_FROM_BYTES ? bytes.toString("utf8") : estimateBytes(bytes);
}

/** Estimated tokens of a system prompt that is too large to be parsed whole; undefined for any other. */
function estimateLargeLead(bytes: Buffer, ranges: readonly ByteRange[]): number | undefined {
  if (ranges.every(({ from, to }) => to - from < LIFT_FROM_BYTES)) return undefined;
  return ranges.reduce((sum, { from, to }) => sum + estimateBytes(bytes.subarray(from, to)), 0);
}

function choosePolicy(
  api: Wire,
  management: unknown,
  upstream: UpstreamConfig,
  name: string,
  limits: TokenLimits,
  when: GatewayConfig["when"],
): Pick<CallRequest, "policy" | "policyKey" | "edits" | "limits"> {
  const hasNoEdits = (management ?? null) === null;
  if (hasNoEdits && when !== "late") return { policy: name, policyKey: name, limits };
  const base = POLICIES.find((policy) => policy.name === name);
  const isLate = base !== undefined && name !== "none" && when === "late";
  const plain = isLate
    ? { policy: createLatePolicy(base), policyKey: `${name} late`, limits }
    : { policy: name, policyKey: name, limits };
  if (hasNoEdits) return plain;
  const read = readContextManagement(management, { api: api.name, by: getContextManager(upstream) });
  if (read.type === "fault") throw new FaultError(read.fault);
  if (read.type === "none" || !base || name === "none") return plain;
  const { edits } = read;
  const policy = buildEditsPolicy(edits, base, { api: api.name, windowTokens: limits.window });
  // Edits without effect stay in the request, where only Anthropic's own API supports them.
  if (policy === base) return { ...plain, ...(api.name !== "anthropic" && { edits }) };
  // The client's edits come first; the policy after them only enforces the limit.
  const whole = { ...limits, threshold: limits.window };
  return { policy, policyKey: `${name} ${buildEditsKey(edits)}`, edits, limits: whole };
}

/** The kinds of recall that a conversation gets. */
export interface RecallSettings {
  /** When tools are offered: by price where nothing is set; "kept" are tools that the conversation has already. */
  readonly offer: RecallOffer | "by price" | "kept";
  /** Whether content is sought for new messages; "kept" only repeats earlier context. */
  readonly context: boolean | "kept";
}

export const NO_RECALL: RecallSettings = { offer: "never", context: false };

/**
 * The settings for requests of an API. Requests that a client makes for itself get no recall. Where nothing is set, the
 * price decides, but a gateway that edits nothing adds no tools.
 */
export function getRecallSettings(
  { recall, routes, dryRun, policy }: GatewayConfig,
  api: WireName,
  kind: ThreadKind,
): RecallSettings {
  const isTalk = kind === "main" || kind === "agent";
  if (dryRun || (!isTalk && kind !== "compaction")) return NO_RECALL;
  const own = routes[api] ?? {};
  const offer =
    own.recall?.offer ?? recall.offer ?? ((own.policy ?? policy) === "none" ? "edit" : "by price");
  const context = own.recall?.context ?? recall.context ?? false;
  // A summary keeps the tools and the context of its conversation, so that the provider finds its prompt in the cache.
  if (!isTalk) return { offer: offer === "never" ? offer : "kept", context: context && "kept" };
  return { offer, context };
}

/** Facts about the request that asks for edits. */
interface EditsPolicyOptions {
  readonly api: WireName;
  /** The model's window in the provider's count. */
  readonly windowTokens?: number;
}

/**
 * A policy that carries out the edits and falls back to the base when they do not meet the limit. Returns the base
 * itself if the edits change nothing, as with `keep: "all"`.
 */
export function buildEditsPolicy(
  edits: readonly ContextEdit[],
  base: Policy,
  options: EditsPolicyOptions,
): Policy {
  const wanted = toClientEdits(edits, options.api);
  if (Object.keys(wanted).length === 0) return base;
  const { windowTokens } = options;
  return clientEdits(wanted, { base, ...dropUndefined({ windowTokens }) });
}

function toClientEdits(edits: readonly ContextEdit[], api: WireName): ClientEdits {
  const find = <T extends ContextEdit["type"]>(type: T) =>
    edits.find((edit): edit is Extract<ContextEdit, { type: T }> => edit.type === type);
  const results: ClearToolUsesEdit | undefined = find("clear_tool_uses_20250919");
  const thinking: ClearThinkingEdit | undefined = find("clear_thinking_20251015");
  const summary: CompactEdit | undefined = find("compact_20260112");
  // The Responses API refuses a call without its reasoning.
  const isClearing = thinking !== undefined && thinking.keep !== "all" && api !== "openai-responses";
  return {
    ...(isClearing && { reasoning: { keepTurns: thinking.keep as number } }),
    ...(results && { results: toResultOptions(results) }),
    ...(summary && { compact: { tokens: summary.triggerTokens, instructions: summary.instructions } }),
  };
}

function toResultOptions({ type: _, ...options }: ClearToolUsesEdit): NonNullable<ClientEdits["results"]> {
  return options;
}

/** A policy that leaves the window alone until it exceeds the limit, even where an earlier edit would save money. */
function createLatePolicy(base: Policy): Policy {
  return {
    ...base,
    start(limits, tokensOf, course) {
      const run = base.start(limits, tokensOf, course);
      let window: Slot[] = [...(course?.window ?? [])];
      let reason: string | undefined;
      return {
        observe(slot) {
          window.push(slot);
          run.observe(slot);
        },
        fit(moment) {
          const messageTokens = window.reduce((sum, { tokens }) => sum + tokens, 0);
          const tokens = limits.system + messageTokens;
          const isWithin = tokens <= limits.tokens && window.length <= (limits.messages ?? window.length);
          if (!isWithin) window = [...run.fit(moment)];
          reason = isWithin ? undefined : run.reason;
          return [...window];
        },
        digest: () => run.digest?.(),
        get reason() {
          return reason;
        },
      };
    },
  };
}

/**
 * The request of a conversation in the control arm: it is logged, and sent unchanged. While control is off, such a
 * conversation is released: it is edited like any other from then on, and counts in neither arm.
 */
export async function applyControl(
  callRequest: CallRequest,
  thread: Thread,
  { control }: { readonly control: number },
): Promise<CallRequest> {
  if (control === 0) {
    await thread.marks.set({ arm: "released" });
    return callRequest;
  }
  const { edits: _edits, compactions: _compactions, memories: _memories, ...rest } = callRequest;
  return { ...rest, policy: "none", policyKey: "none", isControl: true };
}

/** Maximum number of models for which learned limits are kept. */
const MAX_LEARNED = 200;
const SHARED_KIND = "limit";
/** The file that keeps learned limits between starts; older ones may have changed since. */
export const LIMITS_FILE = "limits.json";
const MAX_AGE_MS = 7 * 24 * 3_600_000;

/** The facts that the limits of a request depend on. */
interface LimitedRequest {
  readonly upstream: Pick<UpstreamConfig, "name" | "window">;
  readonly model: string;
  readonly clientModel: string;
  /** True if the client asks for the window of one million tokens. */
  readonly isMillion: boolean;
}

/** A limit that an upstream has named. */
interface LearnedLimit {
  readonly limit: number;
  /** True if the upstream counts the requested output. */
  readonly countsOutput: boolean;
  readonly at: number;
}

/** Knows the token limits of requests: the model's window, the upstream's limit, and the client's assumption. */
export class ModelLimits {
  readonly #kernel: Kernel;
  readonly #config: () => Pick<GatewayConfig, "models">;
  readonly #learned = new Map<string, LearnedLimit>();
  readonly #shared: SharedStates | undefined;
  readonly #file: string | undefined;

  /**
   * `config` returns the overrides of the configuration; `shared` carries learned limits to other gateways, and `file`
   * to the next start.
   */
  constructor(
    kernel: Kernel,
    config: () => Pick<GatewayConfig, "models">,
    shared?: SharedStates,
    file?: string,
  ) {
    this.#kernel = kernel;
    this.#config = config;
    this.#shared = shared;
    this.#file = file;
    shared?.listen(SHARED_KIND, (key, value) => this.#take(key, value));
    for (const [key, value] of Object.entries(readLimits(file))) this.#take(key, value);
  }

  getLimits(bound: LimitedRequest, thresholdPercent: number): TokenLimits {
    const { upstream, model, clientModel, isMillion } = bound;
    const { limit = Number.POSITIVE_INFINITY, countsOutput } = this.getLearned(bound) ?? {};
    const window = Math.min(upstream.window ?? this.getWindow(model, isMillion), limit);
    const threshold = Math.floor((this.getWindow(clientModel, isMillion) * thresholdPercent) / 100);
    const { thinking } = this.#kernel.modelFacts(model);
    return { window, threshold, thinking, ...(countsOutput && { isOutputCounted: true }) };
  }

  /** The window of a model, or its long window if `isMillion`; a client assumes that of its own name for the model. */
  getWindow(model: string, isMillion = false): number {
    const isGiven = this.#config().models[model]?.window !== undefined;
    return this.#kernel.modelFacts(isMillion && !isGiven ? `${model}[1m]` : model).window;
  }

  /** The limit learned from an upstream, if any. */
  getLearned(bound: LimitedRequest): LearnedLimit | undefined {
    return this.#learned.size === 0 ? undefined : this.#learned.get(buildKey(bound));
  }

  /** Restores what `getLearned` returned earlier: an upstream that refuses everything has not revealed a limit. */
  restoreLearned(bound: LimitedRequest, learned: LearnedLimit | undefined): void {
    if (learned !== this.getLearned(bound)) this.#set(buildKey(bound), learned);
  }

  /** Learns a limit from an upstream's error. */
  learn(bound: LimitedRequest, limit: number): void {
    const known = this.getLearned(bound);
    if (known && known.limit <= limit) return;
    this.#set(buildKey(bound), { limit, countsOutput: known?.countsOutput ?? false, at: Date.now() });
  }

  /** Learns that an upstream counts the requested output; only for one whose limit is known. */
  learnOutputCounts(bound: LimitedRequest): void {
    const known = this.getLearned(bound);
    if (known && !known.countsOutput) this.#set(buildKey(bound), { ...known, countsOutput: true });
  }

  #set(key: string, learned: LearnedLimit | undefined): void {
    this.#keep(key, learned);
    this.#shared?.change(SHARED_KIND, key, () => (learned ?? { limit: null }) as unknown as Json);
    if (this.#file !== undefined) writeLimits(this.#file, Object.fromEntries(this.#learned));
  }

  #keep(key: string, learned: LearnedLimit | undefined): void {
    this.#learned.delete(key);
    if (learned) this.#learned.set(key, learned);
    const [oldest] = this.#learned.keys();
    if (this.#learned.size > MAX_LEARNED && oldest !== undefined) this.#learned.delete(oldest);
  }

  /** Takes over a limit that another gateway or an earlier start has learned, or has found to be none. */
  #take(key: string, value: unknown): void {
    const { limit, countsOutput, at } = Object(value) as { readonly [field: string]: unknown };
    const since = typeof at === "number" ? at : Date.now();
    const isKnown = typeof limit === "number" && limit > 0 && since > Date.now() - MAX_AGE_MS;
    this.#keep(key, isKnown ? { limit, countsOutput: countsOutput === true, at: since } : undefined);
  }
}

function readLimits(file: string | undefined): object {
  try {
    return file === undefined ? {} : Object(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return {};
  }
}

/** Without the file, the next start costs a refused request. */
function writeLimits(file: string, limits: object): void {
  try {
    writeFileSync(`${file}.new`, JSON.stringify(limits), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // A full disk is reported by the store.
  }
}

function buildKey({ upstream, model, isMillion }: LimitedRequest): string {
  return `${upstream.name} ${model}${isMillion ? " long" : ""}`;
}
