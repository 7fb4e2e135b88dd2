import type { Message } from "../../model/message.ts";
import { lineTokens } from "./choose-lines.ts";
import type { CandidateLine, Fact, Facts } from "./facts.ts";

/** Lines kept for later extracts; above this the least needed third goes. */
const MAX_LINES = 20_000;

/** Lines of messages that have left the window, ready to come back: the log keeps the rest. */
export class Shelf {
  readonly #facts: Facts;
  #lines: CandidateLine[] = [];
  readonly #shelved = new Set<number>();
  readonly #headings = new Map<number, string>();

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  get lines(): readonly CandidateLine[] {
    return this.#lines;
  }

  headingOf(seq: number): string {
    return this.#headings.get(seq) ?? "message";
  }

  /** Puts the lines of a message away; each message once. */
  put(message: Message, seq: number): void {
    if (this.#shelved.has(seq)) return;
    this.#shelved.add(seq);
    this.#headings.set(seq, this.#facts.headingOf(message));
    for (const line of this.#facts.linesIn(message, seq)) this.#lines.push(line);
    if (this.#lines.length > MAX_LINES) this.#prune();
  }

  #prune(): void {
    const need = (fact: Fact) => this.#facts.need(fact, "far");
    const worth = new Map(
      this.#lines.map((line) => [
        line,
        line.facts.reduce((sum, fact) => sum + need(fact), 0) / lineTokens(line),
      ]),
    );
    const kept = [...this.#lines]
      .sort((a, b) => (worth.get(b) as number) - (worth.get(a) as number))
      .slice(0, Math.floor((MAX_LINES * 2) / 3));
    this.#lines = kept.sort((a, b) => a.seq - b.seq || a.order - b.order);
    const seqs = new Set(kept.map(({ seq }) => seq));
    for (const seq of this.#headings.keys()) if (!seqs.has(seq)) this.#headings.delete(seq);
  }
}
