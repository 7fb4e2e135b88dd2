import assert from "node:assert/strict";
import { type Entry, type Kernel, openKernel, textOfMessage } from "../../src/kernel/index.ts";
import { readRange } from "../../src/log/view/page.ts";
import { isTerminal } from "../../src/model/task.ts";
import type { World } from "./world.ts";

/** Checks that hold at every moment. */
export function checkAlways({ provider }: World): void {
  assert.deepEqual(provider.violations, [], "every request that the provider gets is valid");
}

/** Checks a world that has come to rest: everything acknowledged is stored once, in order and nowhere else. */
export async function checkRest(world: World): Promise<void> {
  const fresh = await openKernel({
    store: { ...openView(world), close: async () => undefined },
    embedder: null,
    monitor: false,
  });
  await checkConversations(world, fresh);
  await checkAppended(world, fresh);
  await checkTasks(world);
  for (const { gateway, session, texts } of world.views) {
    const { entries } = await (await fresh.session(session)).page({ limit: 1_000 });
    const expected = entries.map((entry) => `${entry.seq} ${JSON.stringify(entry)}`);
    assert.deepEqual(texts, expected, `${gateway} sees ${session} as a new process does`);
  }
  const [budget] = await fresh.team.budgets("ada");
  assert.equal(budget?.reserved, 0, "nothing stays reserved of a budget");
  assert.ok(
    (budget?.spent ?? 0) >= world.tokens,
    `the budget counts ${budget?.spent} of ${world.tokens} tokens that were answered`,
  );
}

const openView = ({ base }: World) =>
  Object.assign(Object.create(base) as World["base"], {
    sessions: base.sessions,
    entries: base.entries,
    places: base.places,
    drafts: base.drafts,
    blobs: base.blobs,
    intakes: base.intakes,
    leases: base.leases,
    tasks: base.tasks,
    people: base.people,
    budgets: base.budgets,
    ledger: base.ledger,
    audit: base.audit,
    memory: base.memory,
    onCommit: () => () => undefined,
    size: () => base.size(),
    vacuum: () => base.vacuum(),
  });

async function readAll(kernel: Kernel, id: string): Promise<readonly Entry[]> {
  const session = await kernel.session(id);
  const entries: Entry[] = [];
  for (let from = 1; ; ) {
    const page = await session.read({ from, limit: 1_000 });
    entries.push(...page);
    if (page.length < 1_000) return entries;
    from = (page.at(-1)?.seq ?? from) + 1;
  }
}

async function checkConversations({ clients, provider }: World, kernel: Kernel): Promise<void> {
  assert.deepEqual(provider.violations, []);
  const topics = new Map<string, string[]>();
  for (const { id, meta } of await kernel.sessions({ limit: 1_000 })) {
    if ((meta?.gateway as { readonly kind?: string } | undefined)?.kind === undefined) continue;
    const entries = await readAll(kernel, id);
    assert.deepEqual(
      entries.map(({ seq }) => seq),
      entries.map((_, index) => index + 1),
      `${id} has no gap`,
    );
    const words = entries
      .map((entry) => (entry.kind === "message" ? textOfMessage(entry.message) : ""))
      .join("\n");
    const own = new Set(words.match(/topic-\d+/g));
    assert.ok(own.size <= 1, `${id} mixes ${[...own].join(", ")}`);
    const [topic] = own;
    if (topic !== undefined) topics.set(topic, [...(topics.get(topic) ?? []), id]);
  }
  for (const { topic, messages } of clients) {
    if (messages.length === 0) continue;
    const lines = await Promise.all(
      (topics.get(topic) ?? []).map(async (id) => {
        const session = await kernel.session(id);
        const page = await session.page({ limit: 1_000, kinds: ["message"] });
        return page.entries.map((entry) => (entry.kind === "message" ? textOfMessage(entry.message) : ""));
      }),
    );
    const expected = messages.map(({ content }) => content);
    const isThere = lines.some((line) => JSON.stringify(line) === JSON.stringify(expected));
    if (!isThere)
      assert.deepEqual(
        lines.toSorted((a, b) => b.length - a.length)[0],
        expected,
        `the line of ${topic} is what its client has`,
      );
  }
}

async function checkAppended({ appended }: World, kernel: Kernel): Promise<void> {
  for (const [id, known] of appended) {
    if (known.size === 0) continue;
    const texts = new Map(
      (await readAll(kernel, id)).map((entry) => [
        entry.seq,
        entry.kind === "message" ? textOfMessage(entry.message) : "",
      ]),
    );
    for (const [seq, text] of known)
      assert.equal(texts.get(seq), text, `entry ${seq} of ${id} is what was acknowledged`);
    const all = [...texts.values()].filter((text) => text !== "");
    assert.equal(new Set(all).size, all.length, `${id} holds nothing twice`);
  }
}

async function checkTasks({ base, tasks }: World): Promise<void> {
  for (const { id, end } of tasks) {
    const task = await base.tasks.get(id);
    assert.ok(task, `${id} was acknowledged`);
    assert.ok(isTerminal(task.state), `${id} has ended, but is ${task.state}`);
    if (end !== undefined) assert.equal(task.state, end, `${id} ended once`);
    const entries = await readRange(base.entries, task.session, { from: 1, kinds: ["task"], limit: 1_000 });
    const notes = entries.flatMap((entry) =>
      entry.kind === "task" && entry.task === id ? [entry.note] : [],
    );
    assert.equal(notes.filter(({ type }) => type === "notice").length, 1, `${id} has one notice`);
    assert.equal(
      notes.filter((note) => note.type === "moved" && isTerminal(note.to)).length,
      1,
      `${id} has one end`,
    );
    const steps = notes.flatMap((note) => (note.type === "checkpoint" ? [note.value] : []));
    if (task.state === "completed") assert.deepEqual(steps, [1, 2, 3], `${id} made each step once`);
  }
}
