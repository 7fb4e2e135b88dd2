import { describe, expect, test } from "vitest";
import { Memories } from "../../../src/recall/memories/memories.ts";
import { retrieveContext } from "../../../src/recall/retrieval/retrieve-context.ts";
import { estimateText } from "../../../src/window/tokens/estimate.ts";
import { testMemory } from "../test-memory.ts";

const options = { tokensOf: estimateText };

async function harbour() {
  const fixture = await testMemory();
  await fixture.say(
    "old",
    "We decided that the harbour service retries three times with the pelican back-off.",
  );
  await fixture.say("old", "Lunch was good.");
  await fixture.say("old", "我们决定数据库迁移在周五进行。");
  return fixture;
}

describe("retrieving context", () => {
  test("the context of a message holds what the message refers to, with its source", async () => {
    const { memory } = await harbour();
    const found = await retrieveContext(
      memory,
      "What did we decide about retries of the harbour service?",
      options,
    );
    expect(found).toMatchObject({ reason: "earlier" });
    expect(found?.text).toContain("entry old#1, user");
    expect(found?.text).toContain("| We decided that the harbour service retries three times");
    const chinese = await retrieveContext(memory, "我们之前决定的数据库迁移是哪天？", options);
    expect(chinese?.text).toContain("| 我们决定数据库迁移在周五进行。");
  });

  test("a message that refers to nothing, or to unknown things, gets no context", async () => {
    const { memory } = await harbour();
    let isAsked = false;
    const watched = {
      recall: (...args: Parameters<typeof memory.recall>) => {
        isAsked = true;
        return memory.recall(...args);
      },
    };
    expect(await retrieveContext(watched, "Write a haiku about the harbour.", options)).toBeUndefined();
    expect(isAsked).toBe(false);
    const unknown = "What did you tell me about the quarterly revenue of the Lisbon subsidiary?";
    expect(await retrieveContext(watched, unknown, options)).toBeUndefined();
    expect(isAsked).toBe(true);
  });

  test("the command /context retrieves its text, even with uncertain hits", async () => {
    const { memory } = await harbour();
    const found = await retrieveContext(
      memory,
      "/context harbour of the Lisbon subsidiary in quarterly reports",
      options,
    );
    expect(found).toMatchObject({ reason: "command" });
    expect(found?.hits[0]?.text).toContain("harbour");
  });

  test("the context of a message leaves out what the window shows, and stays within scope and limit", async () => {
    const { memory } = await harbour();
    const question = "What did we decide about retries of the harbour service?";
    const shown = { entries: new Set(["old#1"]) };
    expect((await retrieveContext(memory, question, { ...options, shown }))?.text ?? "").not.toContain(
      "pelican",
    );
    const scope = { prefix: "other/" };
    expect(await retrieveContext(memory, question, { ...options, scope })).toBeUndefined();
    const small = await retrieveContext(memory, question, { ...options, maxTokens: 90 });
    expect(small?.tokens ?? 0).toBeLessThanOrEqual(90);
  });

  test("the context of a message shows only memories of its own agent", async () => {
    const { memory, log } = await harbour();
    await new Memories(log, "a").remember("The pelican back-off of a is ten seconds.", { by: "agent" });
    await new Memories(log, "b").remember("The pelican back-off of b is ninety seconds.", { by: "agent" });
    const found = await retrieveContext(memory, "/context pelican back-off seconds", {
      ...options,
      agent: "a",
    });
    expect(found?.text).toContain("ten seconds");
    expect(found?.text).not.toContain("ninety");
  });
});
