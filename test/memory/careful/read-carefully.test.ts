import { expect, test } from "vitest";
import type { CandidateReader } from "../../../src/memory/careful/candidate-reader.ts";
import { isLonghaulError } from "../../../src/model/errors.ts";
import { testMemory } from "../test-memory.ts";

/** Number of candidates that a careful recall reads. */
const MAX_READ_CANDIDATES = 24;

/** A reader that prefers passages with a word, and records the passages it was given. */
function preferWord(word: string): CandidateReader & { readonly passages: string[] } {
  const passages: string[] = [];
  return {
    passages,
    async read(_question, given) {
      passages.push(...given);
      return given.map((passage) => (passage.includes(word) ? 9 : -9));
    },
  };
}

async function talk(reader?: CandidateReader) {
  const fixture = await testMemory(reader ? { reader } : {});
  await fixture.say("a", "The harbor ferry leaves the harbor pier at nine; the harbor ferry is red.");
  await fixture.say("a", { role: "assistant", text: "Which harbor do you like best?" });
  await fixture.say("a", "The harbor of Genoa, because of the walnut cake.");
  return fixture;
}

test("a careful recall puts the candidates that the reader prefers first, with falling scores", async () => {
  const { memory } = await talk(preferWord("walnut"));
  const quick = await memory.recall("harbor ferry");
  const careful = await memory.recall("harbor ferry", { depth: "careful" });
  expect(quick.hits[0]?.text).toContain("red");
  expect(careful.hits[0]?.text).toContain("walnut");
  expect(careful.hits[0]?.parts.reading).toBe(9);
  expect(careful.hits.map(({ score }) => score)).toEqual(quick.hits.map(({ score }) => score));
});

test("a quick recall does not read anything", async () => {
  const reader = preferWord("walnut");
  const { memory } = await talk(reader);
  await memory.recall("harbor ferry");
  await memory.recall("harbor ferry", { depth: "quick" });
  expect(reader.passages).toEqual([]);
});

test("the reader sees the author of a candidate and the turn before it", async () => {
  const reader = preferWord("walnut");
  const { memory } = await talk(reader);
  await memory.recall("harbor ferry", { depth: "careful" });
  expect(reader.passages).toContain(
    "user: The harbor of Genoa, because of the walnut cake. | assistant: Which harbor do you like best?",
  );
});

test("only the best candidates are read, and those after them keep their places", async () => {
  const reader = preferWord("nothing");
  const { memory, say } = await testMemory({ reader });
  for (let index = 0; index < 40; index++) await say(`s${index}`, `The harbor has pier ${index}.`);
  const quick = await memory.recall("harbor pier", { k: 40 });
  const careful = await memory.recall("harbor pier", { k: 40, depth: "careful" });
  expect(reader.passages).toHaveLength(MAX_READ_CANDIDATES);
  expect(careful.hits.slice(MAX_READ_CANDIDATES)).toEqual(quick.hits.slice(MAX_READ_CANDIDATES));
  expect(careful.hits).toHaveLength(40);
});

test("a redacted entry is neither read nor returned", async () => {
  const reader = preferWord("walnut");
  const { memory, redact } = await talk(reader);
  await redact("a", 3);
  const { hits } = await memory.recall("harbor ferry", { depth: "careful" });
  expect([...reader.passages, ...hits.map(({ text }) => text)].join("\n")).not.toContain("walnut");
});

test("a reader that fails, or none at all, leaves the order and gives the reason", async () => {
  const warnings: string[] = [];
  const reader: CandidateReader = { read: () => Promise.reject(new Error("out of paper")) };
  const { memory, say } = await testMemory({ reader, onWarning: (warning) => void warnings.push(warning) });
  await say("a", "The harbor ferry leaves at nine.");
  await say("a", "The harbor is closed.");
  const found = await memory.recall("harbor ferry", { depth: "careful" });
  expect(found.hits).toHaveLength(2);
  expect(found.withoutReading).toBe("out of paper");
  expect(warnings).toEqual(["Recall was not careful: out of paper"]);
  const without = await talk();
  expect((await without.memory.recall("harbor", { depth: "careful" })).withoutReading).toMatch(/no reader/);
});

test("an agent's tool calls and results keep the order of the first stage, and the result says so", async () => {
  const reader = preferWord("walnut");
  const { memory, say } = await testMemory({ reader });
  for (const [index, output] of ["harbor ferry ok", "harbor ferry failed in walnut.ts"].entries()) {
    const callId = String(index);
    const call = {
      type: "tool-call",
      callId,
      name: "bash",
      input: { command: `run harbor ${index}` },
    } as const;
    await say("a", { role: "assistant", parts: [call] });
    await say("a", { role: "tool", parts: [{ type: "tool-result", callId, output }] });
  }
  const quick = await memory.recall("harbor ferry");
  const careful = await memory.recall("harbor ferry", { depth: "careful" });
  expect(careful.hits).toEqual(quick.hits);
  expect(careful.withoutReading).toMatch(/better without/);
  expect(reader.passages).toEqual([]);
});

test("an unknown depth is refused with its name", async () => {
  const { memory } = await testMemory();
  const recalling = memory.recall("harbor", { depth: "deep" as "careful" });
  await expect(recalling).rejects.toSatisfy((error) => isLonghaulError(error, "ARGUMENT_INVALID"));
});
