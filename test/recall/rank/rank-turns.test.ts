import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withoutSpeakers } from "../../../src/recall/rank/query.ts";
import { rankSessions } from "../../../src/recall/rank/rank-sessions.ts";
import { rankTurns } from "../../../src/recall/rank/rank-turns.ts";
import { toTermVector } from "../../../src/recall/rank/term-vectors.ts";
import { type Said, scopeOf } from "./scope.ts";

const FILLER: readonly Said[] = [
  { text: "The weather was grey all week and nothing much happened." },
  { text: "Here is a recipe for lentil soup with carrots.", author: "assistant" },
  { text: "Could you explain how tides work?" },
  { text: "Tides follow the moon and the sun.", author: "assistant" },
];

function best(question: string, said: readonly Said[], options?: Parameters<typeof scopeOf>[1]): string {
  const { candidates, context } = scopeOf(said, options);
  return said[rankTurns(question, candidates, context)[0]?.id ?? -1]?.text ?? "";
}

describe("rankTurns", () => {
  test("rankTurns finds a turn by other forms of its words", () => {
    const told = "I finally bought a new tennis racket at the sports store downtown.";
    expect(best("Where did I buy my tennis rackets?", [...FILLER, { text: told }])).toBe(told);
  });

  test("rankTurns prefers the user's words for questions about the user, and replies for questions about replies", () => {
    const said: Said[] = [
      ...FILLER,
      { text: "My plan is to dilute the tea tree oil before I use it on the skin." },
      {
        text: "Dilute the tea tree oil with a carrier oil before use on the skin, ten to one.",
        author: "assistant",
      },
    ];
    expect(best("What is my plan for the tea tree oil?", said)).toContain("My plan");
    expect(best("What did you recommend to dilute tea tree oil with for the skin?", said)).toContain(
      "carrier oil",
    );
  });

  test("rankTurns prefers turns of the speaker that the question names", () => {
    const said: Said[] = [
      { speaker: "Ana", text: "I adopted a grey kitten from the shelter." },
      { speaker: "Ben", text: "Work was long today, and the train was late again." },
      { speaker: "Ana", text: "Mine was short, so I went for a walk by the river." },
      { speaker: "Ben", text: "Ana, I adopted a puppy from the shelter." },
    ];
    expect(best("What did Ben adopt from the shelter?", said)).toContain("puppy");
    expect(best("What did Ana adopt from the shelter?", said)).toContain("kitten");
  });

  test("rankTurns uses the date in a question, relative to the time of the question", () => {
    const said: Said[] = [
      ...FILLER.map((one) => ({ ...one, at: "2023-01-05T10:00:00Z" })),
      { text: "I visited a museum with Emma.", session: 1, at: "2023-01-10T10:00:00Z" },
      { text: "I visited a museum with Tom.", session: 2, at: "2023-03-08T10:00:00Z" },
    ];
    const now = "2023-03-11T10:00:00Z";
    expect(best("Which museum did I visit two months ago?", said, { now })).toContain("Emma");
    expect(best("Which museum did I visit last week?", said, { now })).toContain("Tom");
    expect(best("Which museum did I visit in January 2023?", said)).toContain("Emma");
  });

  test("rankTurns lets a question support the short answer after it", () => {
    const said: Said[] = [
      { speaker: "Ana", text: "What colour did you paint the garden fence?" },
      { speaker: "Ben", text: "Dark green." },
      { speaker: "Ana", text: "Did you watch the game?" },
      { speaker: "Ben", text: "Only half." },
      { speaker: "Ana", text: "How are the children?" },
      { speaker: "Ben", text: "Fine, thanks." },
    ];
    const { candidates, context } = scopeOf(said);
    const ids = rankTurns("What colour is Ben's fence?", candidates, context).map(({ id }) => id);
    expect(ids.slice(0, 2).sort()).toEqual([0, 1]);
  });

  test("rankTurns counts words of the question that only neighbouring turns contain", () => {
    const said: Said[] = [
      { speaker: "Ana", text: "The pottery workshop in Faro was wonderful this spring." },
      { speaker: "Ben", text: "Lovely, tell me more." },
      { speaker: "Ana", text: "I made a blue bowl for my grandmother." },
      { speaker: "Ben", text: "Work was long today.", session: 1 },
      { speaker: "Ana", text: "I made a pasta dish for the neighbours.", session: 1 },
      { speaker: "Ben", text: "The train was late again.", session: 1 },
    ];
    const { candidates, context } = scopeOf(said);
    const ids = rankTurns("What did Ana make at the pottery workshop?", candidates, context).map(
      ({ id }) => id,
    );
    expect(ids.indexOf(2)).toBeLessThan(ids.indexOf(4));
  });

  test("rankTurns ranks turns without a vector like others with the same words", () => {
    const plain: Said[] = Array.from({ length: 30 }, (_, number) => ({
      text: `The heron stood at pond ${number}.`,
      session: number,
    }));
    const question = "Which heron stood at pond 7 and pond 8?";
    const rankOf = (said: readonly Said[], id: number) => {
      const { candidates, context } = scopeOf(said);
      return rankTurns(question, candidates, context).findIndex((hit) => hit.id === id);
    };
    const half = plain.map((one, id) => (id % 2 === 0 ? { ...one, similarity: 0.3 } : one));
    expect(rankOf(plain, 7)).toBeLessThan(2);
    expect(rankOf(half, 7)).toBeLessThan(2);
    expect(rankOf(half, 8)).toBeLessThan(2);
    // Among turns that match equally well, having a vector decides nothing.
    const others = plain.flatMap((_, id) => (id === 7 || id === 8 ? [] : [id]));
    const meanRank = (ids: readonly number[]) =>
      ids.reduce((sum, id) => sum + rankOf(half, id), 0) / ids.length;
    const withVector = meanRank(others.filter((id) => id % 2 === 0));
    expect(Math.abs(withVector - meanRank(others.filter((id) => id % 2 === 1)))).toBeLessThan(3);
  });

  test("rankTurns finds a turn by meaning if it shares no word with the question", () => {
    const direction: Readonly<Record<string, readonly number[]>> = {
      physician: [1, 0.1],
      doctor: [1, 0],
      tide: [0, 1],
    };
    const vectors = {
      vectorOf: (term: string) => {
        const values = direction[term];
        return values && toTermVector(Float32Array.from(values));
      },
    };
    const told = "The doctor called back.";
    expect(best("physician", [...FILLER, { text: told }], { vectors })).toBe(told);
    expect(best("physician", [...FILLER, { text: told, similarity: 0.8 }])).toBe(told);
  });

  test("rankTurns finds a standing instruction when the user asks for help", () => {
    const rule = "Always include version numbers when I ask about software libraries.";
    const said: Said[] = [
      ...FILLER,
      { text: rule },
      { text: "The libraries in the town are closed on Sunday." },
    ];
    expect(best("Which libraries should I use for charts?", said)).toBe(rule);
  });

  test("rankTurns returns the parts of each score and the best chunk", () => {
    const long = `${"Nothing of note here. ".repeat(40)}\n\nThe passphrase is heliotrope.\n\n${"More of the same. ".repeat(40)}`;
    const { candidates, context } = scopeOf([...FILLER, { text: long, author: "tool" }]);
    const [hit] = rankTurns("heliotrope passphrase", candidates, context);
    expect(hit?.id).toBe(4);
    const chunk = candidates[4]?.chunks.find(({ id }) => id === hit?.chunk);
    expect(chunk?.terms).toContain("passphras");
    const sum = Object.values(hit?.parts ?? {}).reduce((total, part) => total + part, 0);
    expect(sum).toBeCloseTo(hit?.score ?? 0, 9);
    expect(hit?.parts.words).toBeGreaterThan(0);
  });

  test("rankTurns accepts any question and returns every candidate once, in order, with finite scores", () => {
    const word = fc.constantFrom(
      "I",
      "my",
      "you told me",
      "last Tuesday",
      "NEAR(",
      '"',
      "*",
      "東京",
      "2023",
      "x_y",
      "",
    );
    fc.assert(
      fc.property(fc.array(word), fc.array(fc.array(word), { maxLength: 12 }), (question, turns) => {
        const said = turns.map((words, index): Said => ({ text: words.join(" "), session: index % 3 }));
        const { candidates, context } = scopeOf(said, { now: "2024-02-29T00:00:00Z" });
        const hits = rankTurns(question.join(" "), candidates, context);
        expect(hits.map(({ id }) => id).sort((a, b) => a - b)).toEqual(said.map((_, id) => id));
        for (const [place, { score }] of hits.entries()) {
          expect(Number.isFinite(score)).toBe(true);
          expect(score).toBeLessThanOrEqual(hits[place - 1]?.score ?? score);
        }
      }),
    );
  });

  test("rankTurns returns at most the requested number of hits", () => {
    const { candidates, context } = scopeOf(FILLER);
    expect(rankTurns("tides", candidates, context, 2)).toHaveLength(2);
    expect(rankTurns("tides", [], context)).toEqual([]);
  });
});

test("rankSessions orders sessions by their best turn, and returns each once", () => {
  const { candidates, context } = scopeOf([
    { text: "A plumber came about the boiler.", session: 7 },
    { text: "The boiler is fine now.", session: 7 },
    { text: "I read a book about ships.", session: 3 },
  ]);
  const sessions = rankSessions(rankTurns("Who repaired my boiler?", candidates, context));
  expect(sessions.map(({ session }) => session)).toEqual([7, 3]);
});

test("withoutSpeakers removes the names of known speakers from a question, whatever their characters", () => {
  expect(withoutSpeakers("What is Ana's plan for Anaheim?", ["Ana"]).replace(/\s+/g, " ")).toBe(
    "What is plan for Anaheim?",
  );
  expect(withoutSpeakers("When did J. (Jo) call?", ["J. (Jo)"])).not.toContain("Jo");
  expect(withoutSpeakers("Ana", ["Ana"])).toBe("Ana");
});
