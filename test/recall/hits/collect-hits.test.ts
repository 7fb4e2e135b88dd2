import { describe, expect, test } from "vitest";
import type { MessageInput } from "../../../src/model/message.ts";
import type { SessionHit } from "../../../src/recall/hit.ts";
import { testKernel } from "../../support/kernel.ts";
import { testMemory } from "../test-memory.ts";

const FACT = "The staging server of the shop listens on port 7781.";
const QUESTION = "which port does the staging server use?";

/** The hits of a question over messages, each in its own session unless it names one. */
async function recallFrom(
  messages: readonly (string | MessageInput | { readonly in: string; readonly message: string })[],
  question = QUESTION,
): Promise<readonly SessionHit[]> {
  const { memory, say } = await testMemory();
  for (const [index, message] of messages.entries()) {
    if (typeof message === "object" && "in" in message) await say(message.in, message.message);
    else await say(`s${index}`, message);
  }
  const { hits } = await memory.recall(question);
  return hits.filter((hit) => hit.kind === "session");
}

const placesOf = ({ entry, copies = [] }: SessionHit) => [entry, ...copies.map((copy) => copy.entry)].sort();

describe("equal texts in one hit", () => {
  test("a text said in several sessions is one hit with all its places", async () => {
    const hits = await recallFrom([FACT, "Lunch is at noon today in the canteen.", FACT, FACT]);
    expect(hits.filter(({ text }) => text === FACT)).toHaveLength(1);
    expect(placesOf(hits[0] as SessionHit)).toEqual(["s0#1", "s2#1", "s3#1"]);
    expect(hits[0]?.copies?.[0]).toMatchObject({ author: "user", at: expect.any(Number) });
  });

  test("a text sent again with other spaces or in a list is one hit", async () => {
    const again = { in: "s0", message: `  ${FACT.replaceAll(" ", "  ")}\n` };
    const list = { role: "assistant" as const, text: `- ${FACT}` };
    const hits = await recallFrom([FACT, again, list]);
    expect(hits).toHaveLength(1);
    expect(placesOf(hits[0] as SessionHit)).toEqual(["s0#1", "s0#2", "s2#1"]);
  });

  test("a text that a better hit quotes completely becomes part of that hit", async () => {
    const hits = await recallFrom([
      `Which port does the staging server use? ${FACT}`,
      { role: "assistant", text: FACT },
    ]);
    expect(hits).toHaveLength(1);
    expect(placesOf(hits[0] as SessionHit)).toEqual(["s0#1", "s1#1"]);
  });

  test("a file read twice is one hit, even if its lines have moved", async () => {
    const lines = ["server:", "  name: staging server of the shop", "  port: 7781", "  cache: redis"];
    const show = (first: number) => lines.map((line, index) => `${first + index}→${line}`).join("\n");
    const read = (text: string, callId: string): MessageInput => ({
      role: "tool",
      parts: [{ type: "tool-result", callId, output: text }],
    });
    expect(await recallFrom([read(show(1), "1"), read(show(14), "2")])).toHaveLength(1);
  });

  test("differently cut copies of a sub-agent's task are one hit, which shows the whole text", async () => {
    const filler = (word: string) =>
      Array.from({ length: 12 }, (_, index) => `The ${word} ${index} needs a careful look.`).join(" ");
    const task = `Find the staging server port of the shop. ${filler("module")} Report the staging server port as a number. ${filler("folder")}`;
    const call: MessageInput = {
      role: "assistant",
      parts: [
        {
          type: "tool-call",
          callId: "1",
          name: "Task",
          input: { description: "Find the port that the staging server uses, quickly", prompt: task },
        },
      ],
    };
    const hits = await recallFrom([call, task]);
    expect(new Set(hits.flatMap(placesOf))).toEqual(new Set(["s0#1", "s1#1"]));
    expect(hits).toHaveLength(1);
    expect(task).toContain(hits[0]?.text.trim().split("\n").at(-1)?.slice(-60));
  });
});

describe("different facts in separate hits", () => {
  test.each([
    ["another number", FACT, FACT.replace("7781", "7782")],
    ["a longer number", FACT.replace(".", ""), FACT.replace(".", "5")],
    [
      "another sign",
      "The staging server port offset is -5 today.",
      "The staging server port offset is 5 today.",
    ],
    [
      "another case",
      "The staging server reads its port from PORT only.",
      "The staging server reads its port from port only.",
    ],
    ["a negation around it", FACT, `It is not true that ${FACT}`],
    [
      "more in the second one",
      "Which port does the staging server use?",
      `Which port does the staging server use? It is 7781.`,
    ],
  ])("a text with %s stays a separate hit", async (_, one, other) => {
    for (const said of [
      [one, other],
      [other, one],
    ]) {
      const texts = (await recallFrom(said)).map(({ text }) => text);
      const longest = texts.filter((text) => text === one || text === other);
      expect(longest).toContain(other);
      if (!other.startsWith(one)) expect(longest).toContain(one);
    }
  });

  test("added and removed lines of a diff stay separate hits", async () => {
    const diff = (sign: string): MessageInput => ({
      role: "tool",
      parts: [{ type: "tool-result", callId: sign, output: `${sign} staging server port is set to 7781` }],
    });
    expect(await recallFrom([diff("-"), diff("+")])).toHaveLength(2);
  });

  test("an edit and its reversal stay separate hits", async () => {
    const edit = (from: string, to: string): MessageInput => ({
      role: "assistant",
      parts: [
        {
          type: "tool-call",
          callId: from,
          name: "Edit",
          input: { file_path: "/shop/server.ts", old_string: from, new_string: to },
        },
      ],
    });
    const [a, b] = ["staging server port is 7781", "staging server port is 9912"];
    expect(await recallFrom([edit(a, b), edit(b, a)])).toHaveLength(2);
  });

  test("short answers stay separate hits, because their meaning depends on the question", async () => {
    const hits = await recallFrom(["Yes, staging port.", "Yes, staging port."], "staging port");
    expect(hits).toHaveLength(2);
  });

  test("memories of different agents stay separate hits, because a reader may see only one", async () => {
    const { memory, say } = await testMemory();
    for (const session of ["memory:support", "memory:sales", "chat"]) await say(session, FACT);
    const { hits } = await memory.recall(QUESTION);
    expect(hits).toHaveLength(3);
  });
});

test("copies do not displace other hits", async () => {
  const { memory, say } = await testMemory();
  for (let index = 0; index < 20; index++) await say(`s${index}`, FACT);
  await say("other", "The staging server moved to another data center in March.");
  const { hits } = await memory.recall(QUESTION, { k: 2 });
  expect(hits.map(({ text }) => text)).toContain("The staging server moved to another data center in March.");
  expect((hits.find(({ text }) => text === FACT) as SessionHit).copies).toHaveLength(19);
});

test("a redacted, rewound or out-of-scope place is not listed as a copy", async () => {
  const kernel = await testKernel();
  for (const id of ["a", "b", "@bob/c", "d"]) {
    const session = await kernel.session(id);
    await session.append({ role: "user", text: "Lunch is at noon." });
    await session.append({ role: "user", text: FACT });
    if (id === "b") await session.rewind(1);
    // Copies of one person would be erased together.
    if (id === "@bob/c") await session.redact(2, "test");
  }
  const placesFor = async (options: Parameters<typeof kernel.memory.recall>[1]) => {
    const { hits } = await kernel.memory.recall(QUESTION, options);
    return hits.flatMap((hit) => (hit.kind === "session" && hit.text === FACT ? placesOf(hit) : []));
  };
  expect(await placesFor({ rewound: true })).toEqual(["a#2", "b#2", "d#2"]);
  expect(await placesFor({})).toEqual(["a#2", "d#2"]);
  expect(await placesFor({ activeLine: true })).toEqual(["a#2", "d#2"]);
  expect(await placesFor({ activeLine: true, k: 1 })).toEqual(["a#2", "d#2"]);
  expect(await placesFor({ scope: { sessions: ["a"] } })).toEqual(["a#2"]);
});
