import { describe, expect, test } from "vitest";
import { RetentionShare } from "../../../../src/server/gateway/lookup/retention-share.ts";

const ROOM = 100;

/**
 * Replays requests for conversations of ten bytes each, keeping the most recent ones like `Threads`; returns the hits.
 */
function play(holding: RetentionShare, order: Iterable<number>): number {
  const held = new Map<string, number>();
  let found = 0;
  for (const number of order) {
    const name = `conversation ${number}`;
    const isHeld = held.delete(name);
    if (isHeld) found++;
    holding.recordLookup(name, isHeld, held.size * 10, ROOM);
    held.set(name, 10);
    for (const oldest of held.keys()) {
      if (held.size * 10 <= ROOM * holding.share || held.size === 1) break;
      held.delete(oldest);
      holding.recordEviction(oldest, 10);
    }
  }
  return found;
}

function* inTurn(conversations: number, times: number): Generator<number> {
  for (let time = 0; time < times; time++)
    for (let number = 0; number < conversations; number++) yield number;
}

describe("the share of held conversations", () => {
  test("all data is held if there is enough room to find it again", () => {
    const holding = new RetentionShare(() => 10_000);
    expect(play(holding, inTurn(9, 200))).toBe(9 * 199);
    expect(holding.share).toBe(1);
  });

  test("little is held if more conversations take turns than fit, because none would be found again", () => {
    const holding = new RetentionShare(() => 10_000);
    play(holding, inTurn(40, 100));
    expect(holding.share).toBeLessThan(0.1);
  });

  test("all data stays in memory again as soon as the alternating conversations would fit", () => {
    const holding = new RetentionShare(() => 10_000);
    play(holding, inTurn(40, 100));
    play(holding, inTurn(8, 100));
    expect(holding.share).toBe(1);
  });

  test("conversations that only begin do not lower the share", () => {
    const holding = new RetentionShare(() => 10_000);
    play(holding, inTurn(5_000, 1));
    expect(holding.share).toBe(1);
  });
});
