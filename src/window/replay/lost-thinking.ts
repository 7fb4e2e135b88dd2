import type { Message } from "../../model/message.ts";
import { isInlineToolOutput } from "../inline-tool-output.ts";
import { hasReasoning, isReasoning } from "../living-thinking.ts";
import type { ThinkingRule } from "../models/thinking-rule.ts";
import type { Slot } from "../slot.ts";
import { countProtocolTokens } from "./protocol.ts";
import type { RecordedMessage } from "./recorded-message.ts";

/** The model's own thinking of earlier calls, as far as its requests still contain it in a form that counts. */
export interface ThinkingScore {
  /** Replies with thinking before each request, and those whose thinking the model still had; summed over requests. */
  readonly alive: { readonly used: number; readonly kept: number };
  /** Requests within a turn that had thinking, and those with all of it. */
  readonly turns: { readonly used: number; readonly kept: number };
  /** Replies whose thinking was lost, and its tokens. */
  readonly lost: { readonly replies: number; readonly tokens: number };
}

/** Follows which thinking survives the edits of a policy. */
export class LivingThinking {
  readonly #rule: ThinkingRule;
  /** Tokens of the thinking of each reply, by its seq. */
  readonly #tokens = new Map<number, number>();
  /** Seqs of replies whose thinking was valid in the last request. */
  #alive: ReadonlySet<number> = new Set();
  /** The reply to the last request. */
  #newest: number | undefined;
  #before: Message | undefined;
  /** Seqs of replies with thinking in the running turn. */
  #turn: number[] = [];
  readonly #score = {
    alive: { used: 0, kept: 0 },
    turns: { used: 0, kept: 0 },
    lost: { replies: 0, tokens: 0 },
  };

  constructor(rule: ThinkingRule) {
    this.#rule = rule;
  }

  observe({ seq, message }: RecordedMessage): void {
    if (isQuestion(message, this.#before)) this.#turn = [];
    this.#before = message;
    if (message.role !== "assistant" || !hasReasoning(message)) return;
    this.#tokens.set(seq, countProtocolTokens({ ...message, parts: message.parts.filter(isReasoning) }));
    this.#turn.push(seq);
    this.#newest = seq;
  }

  /** Records a request that begins with `same` messages of the one before, which had `before` messages. */
  recordRequest(window: readonly Slot[], same: number, before: number): void {
    const alive = this.#findAlive(window, same, before);
    for (const seq of this.#listCandidates()) {
      if (alive.has(seq)) continue;
      this.#score.lost.replies++;
      this.#score.lost.tokens += this.#tokens.get(seq) ?? 0;
    }
    this.#alive = alive;
    this.#newest = undefined;
    this.#score.alive.used += this.#tokens.size;
    this.#score.alive.kept += alive.size;
    if (this.#turn.length === 0) return;
    this.#score.turns.used++;
    if (this.#turn.every((seq) => alive.has(seq))) this.#score.turns.kept++;
  }

  get score(): ThinkingScore {
    return structuredClone(this.#score);
  }

  /** Bound thinking survives only in front of the first change; other thinking as long as it is in the window. */
  #findAlive(window: readonly Slot[], same: number, before: number): ReadonlySet<number> {
    const candidates = new Set(this.#listCandidates());
    const end = this.#rule !== "bound" || same === before ? window.length : same;
    const alive = new Set<number>();
    for (const { seq, isNote, message } of window.slice(0, end))
      if (!isNote && candidates.has(seq) && hasReasoning(message)) alive.add(seq);
    return alive;
  }

  #listCandidates(): readonly number[] {
    return this.#newest === undefined ? [...this.#alive] : [...this.#alive, this.#newest];
  }
}

function isQuestion(message: Message, before: Message | undefined): boolean {
  const isAnswer = message.parts.some(({ type }) => type === "tool-result");
  return message.role === "user" && !isAnswer && !isInlineToolOutput(message, before);
}
