import type { CandidateLine, Fact } from "./facts.ts";

/** What a line has to be worth, and what it may take. */
export interface Choice {
  /** Tokens for all chosen lines. */
  readonly room: number;
  /** Least expected use for each token of a line. */
  readonly least: number;
  /** The chance that a fact is needed again. */
  readonly need: (fact: Fact) => number;
  /** Facts that are in the window anyway. */
  readonly covered: ReadonlySet<Fact>;
}

const HEADING_TOKENS = 12;
const ROUNDS = 5;
/** A line whose worth has fallen below this share of what it was ranked by is ranked anew. */
const STALE = 0.8;
const LEAST_ROOM = 20;

interface Ranked {
  readonly line: CandidateLine;
  readonly tokens: number;
  worth: number;
}

/** Tokens of a line of an extract. */
export function lineTokens(line: CandidateLine): number {
  return Math.ceil((line.text.length + 1) / 4);
}

/** The lines that are worth their room, each fact counted once: greedy by expected use for each token. */
export function chooseLines(lines: readonly CandidateLine[], choice: Choice): readonly CandidateLine[] {
  const covered = new Set(choice.covered);
  const needs = new Map<Fact, number>();
  const need = (fact: Fact) => {
    const known = needs.get(fact) ?? choice.need(fact);
    needs.set(fact, known);
    return known;
  };
  const gain = (line: CandidateLine) => {
    let sum = 0;
    for (const fact of line.facts) if (!covered.has(fact)) sum += need(fact);
    return sum;
  };

  const chosen: CandidateLine[] = [];
  const headed = new Set<number>();
  let room = choice.room;
  let ranked: Ranked[] = [];
  for (const line of lines) {
    const tokens = lineTokens(line);
    const worth = gain(line) / tokens;
    if (worth > choice.least) ranked.push({ line, tokens, worth });
  }
  for (let round = 0; round < ROUNDS && ranked.length > 0 && room > LEAST_ROOM; round++) {
    ranked.sort((a, b) => b.worth - a.worth);
    const again: Ranked[] = [];
    for (const one of ranked) {
      const cost = one.tokens + (headed.has(one.line.seq) ? 0 : HEADING_TOKENS);
      if (cost > room) continue;
      const worth = gain(one.line) / cost;
      if (worth <= choice.least) continue;
      if (worth < one.worth * STALE) {
        one.worth = worth;
        again.push(one);
        continue;
      }
      chosen.push(one.line);
      headed.add(one.line.seq);
      room -= cost;
      for (const fact of one.line.facts) covered.add(fact);
    }
    ranked = again;
  }
  return chosen;
}
