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

describe("what is held of conversations", () => {
  test("what is held of conversations is all that there is room for, where that is found again", () => {
    const holding = new RetentionShare(() => 10_000);
    expect(play(holding, inTurn(9, 200))).toBe(9 * 199);
    expect(holding.share).toBe(1);
  });

  test("what is held of conversations is little where more take turns than there is room for, and none would be found again", () => {
    const holding = new RetentionShare(() => 10_000);
    play(holding, inTurn(40, 100));
    expect(holding.share).toBeLessThan(0.1);
  });

  test("what is held of conversations is all again as soon as those that take turns would have room", () => {
    const holding = new RetentionShare(() => 10_000);
    play(holding, inTurn(40, 100));
    play(holding, inTurn(8, 100));
    expect(holding.share).toBe(1);
  });

  test("what is held of conversations is no less for conversations that only begin", () => {
    const holding = new RetentionShare(() => 10_000);
    play(holding, inTurn(5_000, 1));
    expect(holding.share).toBe(1);
  });
});
