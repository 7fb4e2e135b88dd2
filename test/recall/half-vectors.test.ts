import { expect, test } from "vitest";
import type { Embedder } from "../../src/recall/embed/embedder.ts";
import { testMemory } from "./test-memory.ts";

test("a recall also ranks the chunks without vectors if half of the vectors are missing", async () => {
  let isDown = false;
  const embedder: Embedder = {
    id: "test/half",
    dimensions: 4,
    embed: async (texts) => {
      if (isDown && texts.some((text) => text.startsWith("Note"))) throw new Error("The embedder is down.");
      return texts.map(() => [1, 1, 0, 0]);
    },
  };
  const { memory, say } = await testMemory({ embedder });
  for (let number = 0; number < 30; number++)
    await say("old", `Note ${number}: the heron stood at pond ${number}.`);
  await memory.catchUp();
  isDown = true;
  for (let number = 30; number < 60; number++)
    await say("new", `Note ${number}: the heron stood at pond ${number}.`);
  for (const number of [7, 41]) {
    const { hits, withoutVectors } = await memory.recall(`At which pond stood heron ${number}?`, { k: 60 });
    expect(withoutVectors).toBeUndefined();
    expect(hits[0]?.text).toContain(`pond ${number}.`);
    const isNew = hits.map(({ text }) => Number(/\d+/.exec(text)?.[0]) >= 30);
    // Neither half fills the first places: all other notes fit the question equally well.
    expect(isNew.slice(1, 21).filter(Boolean).length).toBeGreaterThan(0);
  }
  expect((await memory.state()).unembedded).toBe(30);
});
