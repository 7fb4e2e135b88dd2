import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rankTurns } from "../../../src/recall/rank/rank-turns.ts";
import { testKernel } from "../../support/kernel.ts";
import { type Said, scopeOf } from "./scope.ts";

const PORTS: readonly Said[] = [
  { text: "The staging port is 7001.", session: 1, at: "2026-01-02" },
  { text: "The staging port is 7003 now.", session: 2, at: "2026-04-11" },
  { text: "The staging port is 7002.", session: 3, at: "2026-07-20" },
];

function order(question: string, said: readonly Said[], now = "2026-08-01"): string[] {
  const { candidates, context } = scopeOf(said, { now });
  return rankTurns(question, candidates, context).map(({ id }) => said[id]?.text ?? "");
}

const texts = (...indexes: number[]) => indexes.map((index) => PORTS[index]?.text);

describe("the versions of a fact", () => {
  test.each([[PORTS], [[...PORTS].reverse()], [[PORTS[1], PORTS[2], PORTS[0]] as Said[]]])(
    "the newest version of a fact comes first, whatever the order of indexing",
    (said) => {
      expect(order("what is the staging port?", said)).toEqual(texts(2, 1, 0));
    },
  );

  test("the newest version comes first even if it differs only in a word", () => {
    const said: Said[] = [
      { text: "We decided to use Postgres for the job queue.", session: 1, at: "2026-01-02" },
      { text: "Lunch was late.", session: 2, at: "2026-02-02" },
      { text: "We decided to use Redis for the job queue.", session: 3, at: "2026-03-02" },
    ];
    expect(order("what did we choose for the job queue?", said)[0]).toContain("Redis");
    expect(
      order("测试端口是多少？", [
        { text: "测试环境的端口是7001", session: 1, at: "2026-01-02" },
        { text: "测试环境的端口是7002", session: 2, at: "2026-03-02" },
      ])[0],
    ).toContain("7002");
  });

  test("a question about a time gets the version of that time first", () => {
    expect(order("what was the staging port in January 2026?", PORTS)[0]).toBe(PORTS[0]?.text);
  });

  test("no version is moved if the question asks for the old one or for the history", () => {
    for (const question of ["what was the staging port originally?", "how has the staging port changed?"]) {
      const { candidates, context } = scopeOf(PORTS, { now: "2026-08-01" });
      for (const { parts } of rankTurns(question, candidates, context)) expect(parts.recency).toBe(0);
    }
  });

  test("only versions by the same speaker with the same words of the question are compared", () => {
    const said: Said[] = [
      { text: "My sister lives in Boston with her dog.", at: "2026-01-02" },
      { text: "My brother lives in Boston with her dog.", at: "2026-05-02" },
      { text: "Noted: your sister lives in Boston with her dog.", author: "assistant", at: "2026-06-02" },
    ];
    expect(order("Where does my sister live?", said)[0]).toBe(said[0]?.text);
  });

  test("recall returns the newest version first", async () => {
    let now = 0;
    const kernel = await testKernel({ path: ":memory:", clock: { now: () => now } });
    for (const { text, at, session } of [PORTS[0], PORTS[2], PORTS[1]] as Said[]) {
      now = Date.parse(at ?? "");
      await (await kernel.session(`session ${session}`)).append({ role: "user", text });
    }
    now = Date.parse("2026-08-01");
    const { hits } = await kernel.memory.recall("what is the staging port?", { k: 3, threshold: 0.5 });
    expect(hits.map(({ text }) => text)).toEqual(texts(2, 1, 0));
    for (const { score, parts } of hits)
      expect(Object.values(parts).reduce((sum, part) => sum + part, 0)).toBeCloseTo(score, 9);
  });
});

test("reordering versions loses none, keeps scores in order, and never puts an older version before a newer one", () => {
  const subject = fc.constantFrom("staging port", "build host", "release day of the mobile client");
  const said = fc.record({ subject, value: fc.nat(9_999), day: fc.nat(300), session: fc.nat(5) });
  fc.assert(
    fc.property(fc.array(said, { maxLength: 30 }), subject, (facts, asked) => {
      const turns = facts.map(({ subject: own, value, day, session }): Said => {
        const at = new Date(Date.UTC(2026, 0, 1 + day)).toISOString();
        return { text: `The ${own} is ${value}.`, session, at };
      });
      const { candidates, context } = scopeOf(turns, { now: "2027-01-01" });
      const hits = rankTurns(`what is the ${asked}?`, candidates, context);
      expect(hits.map(({ id }) => id).sort((a, b) => a - b)).toEqual(turns.map((_, id) => id));
      for (const [index, { score }] of hits.entries())
        expect(score).toBeLessThanOrEqual(hits[index - 1]?.score ?? Number.POSITIVE_INFINITY);
      const days = hits.map(({ id }) => facts[id]).filter((fact) => fact?.subject === asked);
      expect(days.map((fact) => fact?.day)).toEqual(days.map((fact) => fact?.day ?? 0).sort((a, b) => b - a));
    }),
  );
});
