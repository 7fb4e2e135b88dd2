import type { Message } from "../../model/message.ts";
import { identifiersOf } from "./identifiers.ts";
import { type Horizon, needOf } from "./need.ts";
import { type CallFacts, callFacts, type Origin, saidIn } from "./said.ts";
import { bareLine, isVerbatim } from "./verbatim-line.ts";

/** An identifier or a verbatim line that was said, with what became of it. */
export interface Fact {
  readonly isLine: boolean;
  seen: number;
  named: number;
  last: number;
  lastNamed: number;
  origin: Origin;
  path: string | undefined;
}

/** A line that may be kept when its message leaves: its words and the facts in them. */
export interface CandidateLine {
  readonly text: string;
  readonly facts: readonly Fact[];
  /** Seq of the entry it was said in, and its place there. */
  readonly seq: number;
  readonly order: number;
}

const MAX_LINE = 400;
const MIN_LINE = 5;
/** Facts kept; above this, what was said once and never named since long goes. */
const MAX_FACTS = 250_000;
const MAX_CALLS = 2_000;
const OLD = 300;

/** What was said in a session, counted as it comes; bounded, and never looks ahead. */
export class Facts {
  readonly #facts = new Map<string, Fact>();
  readonly #pathTouched = new Map<string, number>();
  readonly #calls = new Map<string, CallFacts>();
  /** Messages observed. */
  #now = 0;

  get now(): number {
    return this.#now;
  }

  get size(): number {
    return this.#facts.size;
  }

  /** Takes the next message of the log into account. */
  observe(message: Message): void {
    for (const part of message.parts)
      if (part.type === "tool-call") this.#noteCall(part.callId, callFacts(part.name, part.input));
    for (const { text, origin, path } of saidIn(message, (callId) => this.#calls.get(callId))) {
      if (path !== undefined) this.#pathTouched.set(path, this.#now);
      const seen = new Set<Fact>();
      for (const line of text.split("\n")) this.#factsOf(line, (fact) => seen.add(fact));
      for (const fact of seen) {
        fact.seen++;
        fact.last = this.#now;
        fact.origin = origin;
        fact.path = path;
      }
      if (message.role === "assistant" && origin !== "reasoning") this.#name(text);
    }
    this.#now++;
    if (this.#facts.size > MAX_FACTS) this.#forget();
  }

  /** All facts of a message, as it is shown. */
  factsIn(message: Message): ReadonlySet<Fact> {
    const facts = new Set<Fact>();
    for (const { text } of saidIn(message, (callId) => this.#calls.get(callId)))
      for (const line of text.split("\n")) this.#factsOf(line, (fact) => facts.add(fact));
    return facts;
  }

  /** The lines of a message that could be kept without it. */
  linesIn(message: Message, seq: number): readonly CandidateLine[] {
    const lines: CandidateLine[] = [];
    for (const { text, origin } of saidIn(message, (callId) => this.#calls.get(callId))) {
      if (origin === "reasoning") continue;
      for (const raw of text.split("\n")) {
        const bare = bareLine(raw);
        if (bare.length < MIN_LINE) continue;
        const cut = bare.length > MAX_LINE ? bare.slice(0, MAX_LINE).toWellFormed() : bare;
        const facts = new Set<Fact>();
        this.#factsOf(cut, (fact) => facts.add(fact));
        if (facts.size > 0) lines.push({ text: cut, facts: [...facts], seq, order: lines.length });
      }
    }
    return lines;
  }

  /** What a message is about, for the heading of its lines: the tool and the file, or who spoke. */
  headingOf(message: Message): string {
    const result = message.parts.find((part) => part.type === "tool-result");
    if (!result) return message.role;
    const call = this.#calls.get(result.callId);
    return [call?.name ?? "tool", call?.path].filter(Boolean).join(" ");
  }

  /** The chance that the assistant names a fact again. */
  need(fact: Fact, horizon: Horizon): number {
    const touched = fact.path === undefined ? undefined : this.#pathTouched.get(fact.path);
    return needOf(
      {
        isLine: fact.isLine,
        origin: fact.origin,
        seen: fact.seen,
        named: fact.named,
        age: this.#now - fact.last,
        sinceNamed: this.#now - fact.lastNamed,
        ...(touched !== undefined && { pathAge: this.#now - touched }),
      },
      horizon,
    );
  }

  #name(text: string): void {
    const named = new Set<Fact>();
    for (const line of text.split("\n")) {
      identifiersOf(line, false, (identifier) => named.add(this.#fact(identifier, false)));
      const bare = bareLine(line);
      if (isVerbatim(bare)) named.add(this.#fact(bare, true));
    }
    for (const fact of named) {
      fact.named++;
      fact.lastNamed = this.#now;
    }
  }

  #factsOf(line: string, tell: (fact: Fact) => void): void {
    identifiersOf(line, true, (identifier) => tell(this.#fact(identifier, false)));
    const bare = bareLine(line);
    if (isVerbatim(bare)) tell(this.#fact(bare, true));
  }

  #fact(text: string, isLine: boolean): Fact {
    const key = isLine ? `\n${text}` : text;
    const known = this.#facts.get(key);
    if (known) return known;
    const fact: Fact = {
      isLine,
      seen: 0,
      named: 0,
      last: this.#now,
      lastNamed: 0,
      origin: "result",
      path: undefined,
    };
    this.#facts.set(key, fact);
    return fact;
  }

  #noteCall(callId: string, facts: CallFacts): void {
    this.#calls.set(callId, facts);
    if (this.#calls.size <= MAX_CALLS) return;
    const [oldest] = this.#calls.keys();
    if (oldest !== undefined) this.#calls.delete(oldest);
  }

  #forget(): void {
    for (const [key, fact] of this.#facts)
      if (fact.named === 0 && fact.seen <= 1 && this.#now - fact.last > OLD) this.#facts.delete(key);
  }
}
