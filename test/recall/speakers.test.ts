import { describe, expect, test } from "vitest";
import type { SessionHit } from "../../src/recall/hit.ts";
import { testMemory } from "./test-memory.ts";

const TALK = [
  ["Caroline", "I went to a support group yesterday and it was so powerful."],
  ["Melanie", "Wow, that is cool! I have been swamped with the kids and work."],
  ["Caroline", "The stories I heard there were inspiring."],
  ["Melanie", "I am off to go swimming with the kids on Sunday."],
  ["Caroline", "I am looking into counseling as a career."],
  ["Melanie", "I painted a lake sunrise last year, it is special to me."],
] as const;
const QUESTIONS = [
  "What career is Caroline looking into?",
  "What did Melanie paint last year?",
  "When do the kids go swimming?",
  "Who went to a support group?",
];

type Form = (speaker: string, text: string) => { text: string; meta?: { speaker: string } };
const inMeta: Form = (speaker, text) => ({ text, meta: { speaker } });
const labeled: Form = (speaker, text) => ({ text: `${speaker}: ${text}` });
const quoted: Form = (speaker, text) => ({ text: `${speaker} said, "${text}"` });

/** Speakers, texts and scores of all hits of the questions, best first. */
async function rankAs(form: Form, isIndexedAtOnce = true) {
  const { memory, say } = await testMemory();
  for (const [index, [speaker, text]] of TALK.entries()) {
    const role = index % 2 === 0 ? "user" : "assistant";
    await say("talk", { role, ...form(speaker, text) });
    if (!isIndexedAtOnce) await memory.catchUp();
  }
  const all = [];
  for (const question of QUESTIONS) {
    const { hits } = await memory.recall(question);
    all.push((hits as SessionHit[]).map(({ speaker, text, score }) => ({ speaker, text, score })));
  }
  return all;
}

describe("a session with names in its texts", () => {
  test.each([
    ["Name: …", labeled],
    ['Name said, "…"', quoted],
  ])(
    "a session with names in its texts as %s ranks like one with speakers in its metadata, whenever it is indexed",
    async (_, form) => {
      const expected = await rankAs(inMeta);
      expect(expected[0]?.[0]).toMatchObject({ speaker: "Caroline", text: TALK[4][1] });
      expect(await rankAs(form)).toEqual(expected);
      const later = await rankAs(form, false);
      expect(later.map((hits) => hits.map(({ text, speaker }) => [speaker, text]))).toEqual(
        expected.map((hits) => hits.map(({ text, speaker }) => [speaker, text])),
      );
    },
  );
});

test("labels in a conversation with an assistant are not taken for names", async () => {
  const { memory, say } = await testMemory();
  for (const text of [
    "Error: the build fails.",
    "Fix the build, please.",
    "Error: it fails again.",
    "Note: use the cache.",
  ])
    await say("work", text);
  const { hits } = await memory.recall("why does the build fail");
  expect(hits.map((hit) => (hit as SessionHit).speaker)).toEqual(hits.map(() => null));
  expect(hits.some(({ text }) => text.startsWith("Error: "))).toBe(true);
});

test("a few messages with names do not change the order of others, unless the question names a person", async () => {
  const build = async (isNamed: boolean) => {
    const { memory, say } = await testMemory();
    for (const [text, speaker] of [
      ["My port is 4747.", "Zoe"],
      ["My port is 4848.", "Yan"],
      ["My port is 7781.", undefined],
      ["Which port?", undefined],
      ["The port of the server is 9000.", undefined],
      ["Use another port.", undefined],
    ] as const)
      await say(text, { role: "user", text, ...(isNamed && speaker && { meta: { speaker } }) });
    return async (question: string) =>
      (await memory.recall(question)).hits.map(({ text, score }) => [text, score]);
  };
  const [named, plain] = [await build(true), await build(false)];
  // Messages with the same score are ordered by the time of their writing.
  const scores = async (recall: typeof named) =>
    new Map((await recall("what is my port?")) as [string, number][]);
  expect(await scores(named)).toEqual(await scores(plain));
  expect((await named("what is the port of Zoe?"))[0]?.[0]).toBe("My port is 4747.");
  expect((await named("what is the port of Yan?"))[0]?.[0]).toBe("My port is 4848.");
});
