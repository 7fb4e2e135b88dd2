import { expect, test } from "vitest";
import { openKernel } from "../../../src/kernel/index.ts";
import { openSqliteStore } from "../../../src/stores/sqlite/index.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";

const WORD = "heronfold";

test("redacting a message erases its words from the summaries, edits and titles of forks of forks", async () => {
  const kernel = await testKernel();
  const session = await kernel.session("chat", { title: "Doors" });
  const said = await session.append({ role: "user", text: `The vault opens with ${WORD} turns.` });
  const output = [{ type: "text" as const, text: `turns: ${WORD}` }];
  await session.append({
    role: "assistant",
    parts: [{ type: "tool-call", callId: "c", name: "f", input: {} }],
  });
  const result = await session.append({
    role: "user",
    parts: [{ type: "tool-result", callId: "c", output }],
  });
  const fork = await (await session.fork({ title: `${WORD} turns` })).fork({
    title: `The vault opens with ${WORD}…`,
  });
  const ranges = [{ session: "chat", from: said.seq, to: said.seq }];
  const summary = { role: "user" as const, text: `Turn ${WORD}.` };
  await fork.overlays.add({ type: "summarize", ranges, messages: [summary] }, "by hand");
  await fork.overlays.add({ type: "replace", target: { callId: "c" }, parts: output }, "by hand");
  const window = fork.window({ model: "claude-sonnet-4-5" });
  expect(JSON.stringify(await window.fit())).toContain(WORD);
  await session.redact([said.seq, result.seq]);
  expect(JSON.stringify(await window.fit())).not.toContain(WORD);
  for (const record of await kernel.sessions({ limit: 10 })) {
    await using one = await kernel.session(record.id);
    expect(JSON.stringify([record, await one.read({ from: 1, limit: 100 })])).not.toContain(WORD);
  }
});

test("a redaction that was killed before the entry is repeated, and still finds the title of a fork", async () => {
  const store = await openSqliteStore({ path: testFolder() });
  const kernel = await openKernel({ store, embedder: null });
  const session = await kernel.session("chat");
  const { seq } = await session.append({ role: "user", text: `The vault opens with ${WORD} turns.` });
  const fork = await session.fork({ title: `${WORD} turns` });
  const update = store.sessions.update.bind(store.sessions);
  store.sessions.update = () => Promise.reject(new Error("killed"));
  await expect(session.redact(seq)).rejects.toThrow("killed");
  store.sessions.update = update;
  await session.redact(seq);
  expect((await kernel.find(fork.id))?.title).toBe("(title removed)");
  await kernel.close();
});
