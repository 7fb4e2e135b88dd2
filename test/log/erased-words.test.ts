import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { importSources } from "../../src/histories/index.ts";
import { type Kernel, openKernel } from "../../src/kernel/index.ts";
import { backupStore, restoreStore } from "../../src/kernel/open-kernel.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { testFolder } from "../support/folder.ts";

const SECRET = "my passport number is ZX-99887766-Q for the form";

async function open(path: string): Promise<Kernel> {
  return openKernel({ path, embedder: null });
}

/** The entries of all sessions that contain a word. */
async function findWord(kernel: Kernel, word: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { id, title } of await kernel.sessions({ limit: 1_000 })) {
    if (title?.includes(word)) found.push(`title of ${id}`);
    await using session = await kernel.session(id);
    for (const entry of await session.read({ from: 1, limit: 1_000 }))
      if (JSON.stringify(entry).includes(word)) found.push(entry.id);
  }
  return found;
}

test("what was erased comes back neither as a copy nor as a sentence of a reply, in any process", async () => {
  const path = testFolder();
  await using kernel = await open(path);
  await using other = await open(path);
  await using before = await other.session("before");
  await before.append({ role: "user", text: "hello there" });
  await using session = await kernel.session("s");
  const { id } = await session.append({ role: "user", text: SECRET });
  await session.redact(id);
  await session.append({ role: "user", text: `  ${SECRET}.` });
  await before.append({ role: "user", text: SECRET });
  await before.append({
    role: "assistant",
    text: `You said: hello. My passport number is ZX-99887766-Q for the form! Noted.`,
  });
  await before.note(SECRET);
  await using titled = await kernel.session("titled", { title: "My passport number is ZX-99887766-Q for…" });
  await titled.update({ title: SECRET });
  expect(await findWord(kernel, "99887766")).toEqual([]);
  const [, , reply] = await before.read({ from: 1, limit: 10, kinds: ["message"] });
  expect(JSON.stringify(reply)).toContain("You said: hello. [removed on request] Noted.");
  expect(
    (await kernel.memory.recall("passport number form")).hits.map(({ text }) => text).join(),
  ).not.toContain("99887766");
});

test("what somebody says anew in other words, and what another person says, is stored", async () => {
  await using kernel = await open(testFolder());
  await using session = await kernel.session("@alice/s");
  const { id } = await session.append({ role: "user", text: SECRET });
  await session.redact(id);
  await using own = await kernel.session("@alice/t");
  await own.append({ role: "user", text: `${SECRET}. Please send it to the office of Tuesday.` });
  await own.append({ role: "user", text: "Thank you very much for all of it." });
  await using others = await kernel.session("@bob/s");
  await others.append({ role: "user", text: SECRET });
  expect(await findWord(kernel, "99887766")).toEqual(["@bob/s#1", "@alice/t#1"]);
  expect(await findWord(kernel, "Thank you")).toEqual(["@alice/t#2"]);
});

test("an erasure takes copies in branches and in other conversations of the person, and names those of others", async () => {
  await using kernel = await open(testFolder());
  await using session = await kernel.session("@alice/s");
  await session.append({ role: "user", text: SECRET });
  await session.rewind(1);
  await session.append({ role: "user", text: "Another question about the weather in June." });
  const last = await session.append({ role: "user", text: SECRET });
  await session.append({
    role: "assistant",
    text: `I see.\nMy passport number is ZX-99887766-Q for the form.\nWhat else?`,
  });
  await session.append({ role: "assistant", text: `I understand that ${SECRET}, sir.` });
  await using own = await kernel.session("@alice/t");
  await own.append({ role: "user", text: SECRET });
  await using others = await kernel.session("@bob/s");
  await others.append({ role: "user", text: SECRET });
  const plan = await session.previewRedact(last.id);
  const listed = plan.entries.map(({ session: id, seq, cause }) => `${id}#${seq} ${cause}`);
  expect(listed.sort()).toEqual([
    "@alice/s#1 copy",
    "@alice/s#4 named",
    "@alice/s#5 quote",
    "@alice/s#6 copy",
    "@alice/t#1 copy",
  ]);
  expect(plan.kept).toEqual(["@bob/s#1"]);
  expect(await findWord(kernel, "99887766")).toHaveLength(6);
  await session.redact(last.id);
  expect(await findWord(kernel, "99887766")).toEqual(["@bob/s#1"]);
  expect(await findWord(kernel, "What else?")).toEqual(["@alice/s#5"]);
  expect(await findWord(kernel, "weather in June")).toEqual(["@alice/s#3"]);
});

test("an erasure takes a client's summary of the words, and the message in which the client sends it again", async () => {
  await using kernel = await open(testFolder());
  await using session = await kernel.session("conv");
  await session.append({ role: "user", text: "We shall fill in a form today, as every year." });
  const { id } = await session.append({ role: "user", text: SECRET });
  await using summarizing = await session.child({
    id: "conv/compaction-1",
    meta: { gateway: { kind: "compaction" } },
  });
  const summary =
    "The user fills in a form.\nHis passport has the number ZX-99887766-Q and is still valid.\nThe invoice is open.";
  await summarizing.append({ role: "assistant", text: `<summary>${summary}</summary>` });
  await session.append({
    role: "user",
    text: `This session is being continued from a previous one.\nSummary:\n<summary>${summary}</summary>`,
  });
  await session.append({
    role: "assistant",
    text: "The invoice is open, and we fill in a form, as every year.",
  });
  await session.redact(id);
  expect(await findWord(kernel, "99887766")).toEqual([]);
  expect(await findWord(kernel, "as every year")).toEqual(["conv#1", "conv#4"]);
});

const CHANGES: readonly (readonly [string, (message: { content: unknown }) => void])[] = [
  [
    "with a cache marker",
    (one) => (one.content = [{ type: "text", text: one.content, cache_control: { type: "ephemeral" } }]),
  ],
  ["with a full stop", (one) => (one.content = `${one.content}.`)],
  [
    "within other sentences",
    (one) => (one.content = `Please listen to me.\n${one.content}\nAnd that is all there is.`),
  ],
  ["unchanged", () => undefined],
];

test.each(CHANGES)(
  "an erased message does not come back with the next import, where it stands %s",
  async (_, change) => {
    const folder = testFolder();
    const file = join(folder, "ticket.json");
    const messages: { role: string; content: unknown }[] = [
      { role: "user", content: SECRET },
      { role: "assistant", content: "Noted." },
    ];
    writeFileSync(file, JSON.stringify(messages));
    await using kernel = await open(join(folder, "store"));
    const id = (await importSources(kernel, [file])).sources[0]?.session ?? "";
    await using session = await kernel.session(id);
    const [seq] = (await findWord(kernel, "99887766")).flatMap((one) => Number(one.split("#")[1]) || []);
    await session.redact(seq as number);
    change(messages[0] as { content: unknown });
    writeFileSync(file, JSON.stringify([...messages, { role: "user", content: "and what is next?" }]));
    await importSources(kernel, [file]);
    expect(await findWord(kernel, "99887766")).toEqual([]);
    expect(await findWord(kernel, "what is next")).not.toEqual([]);
  },
);

test("an erasure that a crash interrupted is completed by whoever opens the store next", async () => {
  const path = testFolder();
  const store = await openSqliteStore({ path });
  {
    await using kernel = await openKernel({ store, embedder: null });
    await using session = await kernel.session("s");
    await session.append({ role: "user", text: "hello" });
    const { id } = await session.append({ role: "user", text: SECRET });
    await using copy = await kernel.session("t", { title: SECRET });
    await copy.append({ role: "user", text: SECRET });
    store.entries.redact = async () => {
      throw new Error("killed here");
    };
    await expect(session.redact(id)).rejects.toThrow("killed here");
    expect((await findWord(kernel, "99887766")).length).toBeGreaterThan(0);
  }
  await using kernel = await open(path);
  expect(await findWord(kernel, "99887766")).toEqual([]);
});

test("a backup from before an erasure brings nothing of it back into the store that it replaces", async () => {
  const folder = testFolder();
  const path = join(folder, "store");
  {
    await using kernel = await open(path);
    await using session = await kernel.session("s", { title: SECRET });
    await session.append({ role: "user", text: "a question about the weather in June" });
    const { id } = await session.append({ role: "user", text: SECRET });
    await session.append({ role: "assistant", text: `I see.\n${SECRET}.\nWhat else?` });
    await kernel.memory.catchUp();
    await backupStore(path, join(folder, "backup"));
    await session.redact(id);
  }
  await restoreStore(join(folder, "backup"), path, { replace: true });
  await using kernel = await open(path);
  expect(await findWord(kernel, "99887766")).toEqual([]);
  expect(await findWord(kernel, "What else")).toEqual(["s#3"]);
  expect(await findWord(kernel, "weather in June")).toEqual(["s#1"]);
  expect(JSON.stringify((await kernel.memory.recall("passport number form")).hits)).not.toContain("99887766");
});
