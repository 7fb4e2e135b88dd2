import { describe, expect, test } from "vitest";
import { retrieveContext } from "../../src/kernel/faces/memory.ts";
import type { Kernel, Session } from "../../src/kernel/index.ts";
import { diskKernel, testKernel } from "../support/kernel.ts";

const FACT = "The locker opens with the code xylophone90210.";
const QUESTION = "Which code did we say opens the locker, xylophone90210?";

async function recalled(kernel: Kernel, options: Parameters<Kernel["memory"]["recall"]>[1] = {}) {
  const { hits } = await kernel.memory.recall(QUESTION, options);
  return hits.filter(({ text }) => text.includes("xylophone")).length > 0;
}

async function retrieved(kernel: Kernel): Promise<boolean> {
  const found = await retrieveContext(kernel.memory, QUESTION, {
    tokensOf: (text) => text.length,
    maxTokens: 9_000,
  });
  return found?.text.includes("xylophone") ?? false;
}

async function start() {
  const kernel = await testKernel({ path: ":memory:", embedder: null });
  const session = await kernel.session("chat");
  for (const text of ["Hello.", FACT, "Fine."]) await session.append({ role: "user", text });
  return { kernel, session };
}

describe("a message that was taken back", () => {
  test.each([
    ["rewound", (session: Session) => session.rewind(1)],
    ["removed", (session: Session) => session.remove(2)],
    ["replaced", (session: Session) => session.replace(2, { role: "user", text: "The locker is open." })],
    ["edited", (session: Session) => session.edit(2, { role: "user", text: "The locker is open." })],
  ])("a message that was %s is not recalled until it is back on the line", async (_, act) => {
    const { kernel, session } = await start();
    expect(await recalled(kernel)).toBe(true);
    await act(session);
    await session.append({ role: "user", text: "Now the locker is somewhere else." });
    expect(await recalled(kernel)).toBe(false);
    expect(await recalled(kernel, { activeLine: true })).toBe(false);
    expect(await retrieved(kernel)).toBe(false);
    expect(await recalled(kernel, { rewound: true })).toBe(true);
    expect(JSON.stringify(await kernel.memory.expand("chat#1"))).not.toContain("xylophone");
    expect(await kernel.memory.expand("chat#2", { rewound: false })).toEqual([]);
    expect(JSON.stringify(await kernel.memory.expand("chat#2"))).toContain("xylophone");
    await session.choose(0);
    expect(await recalled(kernel)).toBe(true);
    await session.rewind(1);
    expect(await recalled(kernel)).toBe(false);
  });

  test("a message that was taken back is recalled while a fork, or a fork of the fork, has it on its line", async () => {
    const { kernel, session } = await start();
    await using fork = await session.fork({ id: "fork" });
    await using twig = await fork.fork({ id: "twig" });
    await session.rewind(1);
    expect(await recalled(kernel)).toBe(true);
    await fork.rewind("chat#1");
    expect(await recalled(kernel)).toBe(true);
    await twig.rewind("chat#1");
    expect(await recalled(kernel)).toBe(false);
  });

  test("a message that another process took back is not recalled", async () => {
    const { kernel, path } = await diskKernel({ embedder: null });
    const session = await kernel.session("chat");
    for (const text of ["Hello.", FACT]) await session.append({ role: "user", text });
    expect(await recalled(kernel)).toBe(true);
    const other = await testKernel({ path, embedder: null });
    await (await other.session("chat")).rewind(1);
    expect(await recalled(kernel)).toBe(false);
  });
});

describe("a message that left the line for another reason", () => {
  test("a trimmed message is recalled, also by context", async () => {
    const { kernel, session } = await start();
    await session.remove(2, { departure: "trimmed" });
    expect(await recalled(kernel)).toBe(true);
    expect(await recalled(kernel, { activeLine: true })).toBe(true);
    expect(await retrieved(kernel)).toBe(true);
    await session.rewind(1);
    expect(await recalled(kernel)).toBe(true);
  });

  test("a message on another branch, as in an import, is recalled, but not by context", async () => {
    const { kernel, session } = await start();
    await session.setLine([{ session: "chat", from: 1, to: 1 }], "as in claude-code");
    expect(await recalled(kernel)).toBe(true);
    expect(await recalled(kernel, { activeLine: true })).toBe(false);
    expect(await retrieved(kernel)).toBe(false);
  });
});

test("the options rewound and activeLine exclude each other, and an unknown departure is refused", async () => {
  const { kernel, session } = await start();
  await expect(kernel.memory.recall(QUESTION, { rewound: true, activeLine: true })).rejects.toMatchObject({
    code: "ARGUMENT_INVALID",
  });
  await expect(session.rewind(1, { departure: "gone" as never })).rejects.toMatchObject({
    code: "ARGUMENT_INVALID",
  });
  expect(await session.lines()).toHaveLength(1);
});

test("recall returns nothing that was forgotten, redacted, deleted or moved out of scope", async () => {
  const { kernel, session } = await start();
  await session.update({ meta: { team: "a" } });
  const scope = { meta: { team: "a" } };
  expect(await recalled(kernel, { scope })).toBe(true);
  await session.update({ meta: { team: "b" } });
  expect(await recalled(kernel, { scope })).toBe(false);
  await session.redact(2);
  expect(await recalled(kernel, { rewound: true })).toBe(false);
  const memory = await kernel.memories().remember(FACT, { by: "user" });
  expect(await recalled(kernel)).toBe(true);
  expect(await recalled(kernel, { scope: { agents: ["other"] } })).toBe(false);
  await kernel.memories().forget(memory?.id ?? "");
  expect(await recalled(kernel, { rewound: true, memories: { trust: "rejected", validAt: "ever" } })).toBe(
    false,
  );
  // Erased words stay erased for their person; somebody else may say them.
  await (await kernel.session("@bob/gone")).append({ role: "user", text: FACT });
  expect(await recalled(kernel)).toBe(true);
  await kernel.deleteSession("@bob/gone");
  expect(await recalled(kernel, { rewound: true })).toBe(false);
});
