import { checkFields, checkList } from "../../model/argument-checks.ts";
import { createArgumentError } from "../../model/errors.ts";
import type { Message } from "../../model/message.ts";
import { getPathArgument, parseToolArguments } from "../effects/call-arguments.ts";
import { listReplacedTexts } from "../effects/list-changes.ts";
import type { ThinkingRule } from "../models/thinking-rule.ts";
import type { Policy, PolicyRun } from "../policy.ts";
import type { Slot } from "../slot.ts";
import { LivingThinking, type ThinkingScore } from "./lost-thinking.ts";
import { countProtocolTokens, PROTOCOL, type Protocol } from "./protocol.ts";
import type { RecordedMessage } from "./recorded-message.ts";
import { isLineReference, listTextLines, ReferenceReader } from "./reference-reader.ts";
import { type Refetch, RefetchEstimate } from "./refetch-estimate.ts";
import { type SeenClue, SeenClues } from "./seen-clues.ts";

/** Number of references used, and how many of them were still in the window. */
export interface Retention {
  readonly used: number;
  readonly kept: number;
}

/** Cost and retention of a session under one policy. */
export interface ReplayScore {
  readonly requests: number;
  /** In input tokens: cache writes and reads at their prices. */
  readonly cost: number;
  readonly sentTokens: number;
  readonly peakTokens: number;
  /** Requests whose beginning differed from that of the previous request. */
  readonly edits: number;
  /** Texts that the agent's edits replaced, of those shown before: without its text, an edit fails. */
  readonly editTexts: Retention;
  /** Paths of files in the agent's calls, of those shown before. */
  readonly paths: Retention;
  readonly identifiers: Retention;
  readonly lines: Retention;
  /** Estimated cost of fetching again the content that replies needed and the window had lost; not part of `cost`. */
  readonly refetch: Refetch;
  /** Only if the replay was asked for it. */
  readonly thinking?: ThinkingScore;
}

/** One request of a replay, for callers that inspect or score it themselves. */
export interface ReplayedRequest {
  readonly at: number;
  readonly isHot: boolean;
  readonly tokens: number;
  readonly isEdited: boolean;
  readonly window: readonly Slot[];
}

/** The state of the provider's cache after a pause. */
interface KeptCache {
  readonly isHot: boolean;
  /** Price of the tokens that this request writes. */
  readonly writePrice: number;
  /** Cost of keeping the cache alive during the pause, in input tokens. */
  readonly refreshCost: number;
}

interface ReplayOptions {
  readonly protocol?: Protocol;
  /** Counts the thinking that is lost where the provider has this rule. */
  readonly thinking?: ThinkingRule | undefined;
  readonly onRequest?: (request: ReplayedRequest) => void;
  /** Decides what became of the cache in a pause, given the tokens of the last request; default: by the protocol. */
  readonly keepCache?: ((pauseMs: number | undefined, tokens: number) => KeptCache) | undefined;
}

/** Replays a conversation under a policy; `window` is the size of the model's window in tokens, or Infinity. */
export function replay(
  conversation: readonly RecordedMessage[],
  policy: Policy,
  window: number,
  options: ReplayOptions = {},
): ReplayScore {
  checkList("conversation", conversation, { message: "object" });
  checkFields("policy", policy, { name: "text", start: "function" });
  if (typeof window !== "number" || !(window > 0))
    throw createArgumentError("window", window, "tokens above 0");
  checkFields("options", options, { protocol: "object?", onRequest: "function?", keepCache: "function?" });
  const { protocol = PROTOCOL, keepCache, thinking } = options;
  const run = new Replay(policy, window, protocol, keepCache, thinking && new LivingThinking(thinking));
  for (const said of conversation) {
    if (said.message.role === "assistant") {
      const request = run.buildRequest(said);
      if (request) options.onRequest?.(request);
    }
    run.observe(said);
  }
  return run.getScore();
}

/** Shorter texts of edits stand everywhere. */
const MIN_EDIT_CHARACTERS = 20;

class Replay {
  readonly #protocol: Protocol;
  readonly #run: PolicyRun;
  readonly #references = new ReferenceReader();
  /** Number of messages in the window that contain each reference. */
  readonly #liveCounts = new Map<string, number>();
  /** The same for all lines, and the lines of the whole conversation. */
  readonly #liveLines = new Map<string, number>();
  readonly #shownLines = new Set<string>();
  readonly #clues = new SeenClues(this.#references);
  readonly #refetch: RefetchEstimate;
  #previous: readonly Slot[] = [];
  #previousAt: number | undefined;
  #lastMessage: RecordedMessage | undefined;
  #score = { requests: 0, cost: 0, sentTokens: 0, peakTokens: 0, edits: 0 };
  readonly #editTexts = { used: 0, kept: 0 };
  readonly #paths = { used: 0, kept: 0 };
  readonly #identifiers = { used: 0, kept: 0 };
  readonly #lines = { used: 0, kept: 0 };

  readonly #keepCache: NonNullable<ReplayOptions["keepCache"]>;
  #previousTokens = 0;
  readonly #thinking: LivingThinking | undefined;

  constructor(
    policy: Policy,
    window: number,
    protocol: Protocol,
    keepCache: ReplayOptions["keepCache"],
    thinking: LivingThinking | undefined,
  ) {
    this.#protocol = protocol;
    this.#thinking = thinking;
    const { cacheMs, writePrice } = protocol;
    this.#keepCache =
      keepCache ??
      ((pauseMs) => ({ isHot: pauseMs === undefined || pauseMs <= cacheMs, writePrice, refreshCost: 0 }));
    this.#refetch = new RefetchEstimate(protocol);
    const { systemTokens: system, reserveTokens, readPrice: read, writePrice: write } = protocol;
    const limits = { window, tokens: window - reserveTokens, system };
    this.#run = policy.start(limits, countProtocolTokens, { prices: { read, write } });
  }

  observe(said: RecordedMessage): void {
    const { seq, at, message } = said;
    this.#run.observe({ seq, at, message, tokens: countProtocolTokens(message) });
    this.#clues.observe(said);
    this.#thinking?.observe(said);
    for (const line of this.#references.readLines(message)) this.#shownLines.add(line);
    this.#lastMessage = said;
  }

  /** The request before a reply; undefined before the very first message. */
  buildRequest(reply: RecordedMessage): ReplayedRequest | undefined {
    if (!this.#lastMessage) return undefined;
    const at = this.#lastMessage.at;
    const pauseMs = this.#previousAt === undefined ? undefined : at - this.#previousAt;
    const cache = this.#keepCache(pauseMs, this.#previousTokens);
    const isHot = cache.isHot || pauseMs === undefined;
    const window = [...this.#run.fit({ isHot })];
    const { tokens, isEdited } = this.#charge(window, cache);
    this.#updateLiveCounts(window);
    const lost: (readonly [string, SeenClue])[] = [];
    for (const reference of this.#references.readUsed(reply.message)) {
      const clue = this.#clues.find(reference);
      if (!clue) continue;
      const count = isLineReference(reference) ? this.#lines : this.#identifiers;
      count.used++;
      if (this.#liveCounts.has(reference)) count.kept++;
      else lost.push([reference, clue]);
    }
    this.#refetch.charge(lost, tokens);
    this.#countCalls(reply.message);
    this.#previous = window;
    this.#previousAt = at;
    this.#previousTokens = tokens;
    return { at, isHot, tokens, isEdited, window };
  }

  getScore(): ReplayScore {
    const retention = {
      editTexts: { ...this.#editTexts },
      paths: { ...this.#paths },
      identifiers: { ...this.#identifiers },
      lines: { ...this.#lines },
    };
    const thinking = this.#thinking?.score;
    return {
      ...this.#score,
      ...retention,
      refetch: this.#refetch.sums,
      ...(thinking && { thinking }),
    };
  }

  /**
   * Charges a request: the prefix it shares with the previous one is read from the cache while it is hot; the rest is
   * written.
   */
  #charge(
    window: readonly Slot[],
    { isHot, writePrice, refreshCost }: KeptCache,
  ): { readonly tokens: number; readonly isEdited: boolean } {
    const { systemTokens, readPrice } = this.#protocol;
    let same = 0;
    let shared = systemTokens;
    while (same < this.#previous.length && window[same]?.message === this.#previous[same]?.message)
      shared += (window[same++] as Slot).tokens;
    const tokens = systemTokens + window.reduce((sum, slot) => sum + slot.tokens, 0);
    const isCached = isHot && this.#score.requests > 0;
    const isEdited = same < this.#previous.length;
    this.#thinking?.recordRequest(window, same, this.#previous.length);
    this.#score = {
      requests: this.#score.requests + 1,
      cost:
        this.#score.cost +
        refreshCost +
        (isCached ? shared * readPrice + (tokens - shared) * writePrice : tokens * writePrice),
      sentTokens: this.#score.sentTokens + tokens,
      peakTokens: Math.max(this.#score.peakTokens, tokens),
      edits: this.#score.edits + (isEdited ? 1 : 0),
    };
    return { tokens, isEdited };
  }

  /** Counts the texts and paths that the calls of a reply rely on. */
  #countCalls({ parts }: Message): void {
    for (const part of parts) {
      if (part.type !== "tool-call") continue;
      for (const text of listReplacedTexts(part)) {
        const lines = listTextLines(text);
        const isShown = lines.every((line) => this.#shownLines.has(line));
        if (text.trim().length < MIN_EDIT_CHARACTERS || !isShown) continue;
        this.#editTexts.used++;
        if (lines.every((line) => this.#liveLines.has(line))) this.#editTexts.kept++;
      }
      const from = parseToolArguments(part.input);
      const path = from && getPathArgument(from);
      if (path === undefined || !this.#clues.find(path)) continue;
      this.#paths.used++;
      if (this.#liveCounts.has(path)) this.#paths.kept++;
    }
  }

  /** Updates the reference counts for messages that entered or left the window. */
  #updateLiveCounts(window: readonly Slot[]): void {
    const before = new Set(this.#previous.map(({ message }) => message));
    const after = new Set(window.map(({ message }) => message));
    for (const message of after) if (!before.has(message)) this.#count(message, 1);
    for (const message of before) if (!after.has(message)) this.#count(message, -1);
  }

  #count(message: Message, step: 1 | -1): void {
    addToCounts(this.#liveCounts, this.#references.readOffered(message), step);
    addToCounts(this.#liveLines, this.#references.readLines(message), step);
  }
}

function addToCounts(counts: Map<string, number>, keys: Iterable<string>, step: 1 | -1): void {
  for (const key of keys) {
    const count = (counts.get(key) ?? 0) + step;
    if (count > 0) counts.set(key, count);
    else counts.delete(key);
  }
}
