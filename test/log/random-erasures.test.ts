import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import { importSources } from "../../src/histories/index.ts";
import { type Kernel, openKernel } from "../../src/kernel/index.ts";
import { migrateStore } from "../../src/kernel/open-kernel.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { testFolder } from "../support/folder.ts";
import { proofRounds, sizedTest } from "../support/proof.ts";

type Spoken = "say" | "reply" | "note" | "quote" | "title" | "again" | "rewind" | "fork" | "compact";

/** One thing that happens to a conversation, or to all. */
type Step =
  | { readonly type: Spoken; readonly session: number }
  | { readonly type: "import"; readonly change: number }
  | { readonly type: "erase"; readonly pick: number; readonly isKilled: boolean }
  | { readonly type: "move" }
  | { readonly type: "reopen" };

const session = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constantFrom("say" as const, "reply" as const), session }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constantFrom("note", "quote", "title", "again", "rewind", "fork", "compact" as const),
      session,
    }) as fc.Arbitrary<Step>,
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("import" as const), change: fc.nat(3) }) },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant("erase" as const), pick: fc.nat(30), isKilled: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.constantFrom({ type: "move" as const }, { type: "reopen" as const }) },
);

/** A world with conversations and an imported file; `said` are the sentences that stand in it, `erased` those that must not. */
class World {
  readonly folder = testFolder();
  readonly file = join(this.folder, "history.json");
  readonly said: string[] = [];
  readonly erased: string[] = [];
  readonly history: { role: string; content: unknown }[] = [];
  path = join(this.folder, "store0");
  #kernel: Kernel | undefined;
  #count = 0;
  #stores = 0;

  async kernel(): Promise<Kernel> {
    this.#kernel ??= await openKernel({ path: this.path, embedder: null });
    return this.#kernel;
  }

  async close(): Promise<void> {
    await this.#kernel?.close();
    this.#kernel = undefined;
  }

  number(): number {
    return ++this.#count;
  }

  /** A sentence that nobody has said before. */
  invent(): string {
    const number = this.number();
    const word = `w${number.toString(36)}q${(number * 7919).toString(36)}z`;
    const sentence = `my secret number ${number} is ${word} for the form`;
    this.said.push(sentence);
    return sentence;
  }

  /** Any of the sentences that were said and not erased. */
  pick(number: number): string | undefined {
    const living = this.said.filter((sentence) => !this.erased.includes(sentence));
    return living[number % Math.max(1, living.length)];
  }

  async move(): Promise<void> {
    await this.kernel();
    await this.close();
    const next = join(this.folder, `store${++this.#stores}`);
    await migrateStore(this.path, next);
    this.path = next;
  }
}

async function take(world: World, one: Step): Promise<void> {
  if (one.type === "move") return world.move();
  if (one.type === "reopen") return world.close();
  const kernel = await world.kernel();
  if (one.type === "import") return importAgain(world, kernel, one.change);
  if (one.type === "erase") return erase(world, kernel, one);
  return speak(world, kernel, one);
}

async function speak(
  world: World,
  kernel: Kernel,
  one: { readonly type: Spoken; readonly session: number },
): Promise<void> {
  await using session = await kernel.session(`chat-${one.session}`);
  const { seq } = await session.head();
  const known = world.pick(seq);
  const words = known ?? "nothing was said until now";
  switch (one.type) {
    case "say":
      return void (await session.append({ role: "user", text: `Hello. ${world.invent()}. That is all.` }));
    case "reply":
      return void (await session.append({ role: "assistant", text: `I see.\n${words}\nIs that right?` }));
    case "note":
      return void (await session.note(words));
    case "quote":
      return void (await session.append({
        role: "assistant",
        text: `As you said, ${words}, which I keep in mind.`,
      }));
    case "title":
      return void (await session.update({ title: `${words.slice(0, 40)}…` }));
    case "again":
      return void (await session.append({ role: "user", text: `Hello. ${words}. That is all.` }));
    case "rewind":
      return void (seq > 1 && (await session.rewind(1)));
    case "fork":
      return void (seq > 0 && (await (await session.fork({ id: `fork-${world.number()}` })).close()));
    case "compact":
      return void (await session.compact().catch(() => undefined));
  }
}

/** Changes the file as agents do, and imports it. */
async function importAgain(world: World, kernel: Kernel, change: number): Promise<void> {
  const { history } = world;
  if (change === 0 || history.length === 0)
    history.push(
      { role: "user", content: `Hello. ${world.invent()}. That is all.` },
      { role: "assistant", content: "Noted." },
    );
  const at = history[2 * (change % Math.ceil(history.length / 2))] as { content: unknown };
  if (change === 1 && typeof at.content === "string")
    at.content = [{ type: "text", text: at.content, cache_control: { type: "ephemeral" } }];
  if (change === 2 && typeof at.content === "string") at.content += " And so on.";
  writeFileSync(world.file, JSON.stringify(history));
  // Files that have changed within one tick of the clock must not look the same.
  const time = 1_750_000_000 + world.number();
  utimesSync(world.file, time, time);
  await importSources(kernel, [world.file]);
}

/** Erases an entry of a person with a sentence; a kill leaves the rest to the next process. */
async function erase(
  world: World,
  kernel: Kernel,
  { pick, isKilled }: { readonly pick: number; readonly isKilled: boolean },
): Promise<void> {
  const sentence = world.pick(pick);
  const place = sentence === undefined ? undefined : await findSaid(kernel, sentence);
  if (sentence === undefined || !place) return;
  if (!isKilled) {
    await using session = await kernel.session(place.session);
    await session.redact(place.seq);
  } else {
    await world.close();
    const store = await openSqliteStore({ path: world.path });
    store.entries.redact = async () => {
      throw new Error("killed here");
    };
    await using dying = await openKernel({ store, embedder: null });
    await using session = await dying.session(place.session);
    await expect(session.redact(place.seq)).rejects.toThrow("killed here");
  }
  world.erased.push(sentence);
}

/** The message in which a person said a sentence. */
async function findSaid(kernel: Kernel, sentence: string) {
  for (const { id } of await kernel.sessions({ limit: 1_000 })) {
    await using session = await kernel.session(id);
    // The whole log, with entries that no line has any more.
    for (const entry of await session.read({ from: 1, limit: 1_000 }))
      if (
        entry.kind === "message" &&
        entry.message.role === "user" &&
        JSON.stringify(entry).includes(sentence)
      )
        return entry;
  }
  return undefined;
}

/** Files of the store with one of the texts in them. */
function searchFiles(folder: string, texts: readonly string[]): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((name) => {
    const path = join(folder, name);
    if (!statSync(path).isFile()) return [];
    const bytes = readFileSync(path);
    return texts.filter((text) => bytes.includes(text)).map((text) => `${name}: ${text}`);
  });
}

sizedTest(
  "after random erasures, no file, index, title or later import has an erased word, and others stay",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 40 }), async (steps) => {
        const world = new World();
        try {
          for (const one of steps) await take(world, one);
          await importAgain(world, await world.kernel(), 3);
          const kernel = await world.kernel();
          await kernel.memory.catchUp();
          const words = world.erased.map((sentence) => sentence.split(" ")[5] as string);
          for (const word of words) {
            const { hits } = await kernel.memory.recall(word);
            expect(JSON.stringify(hits)).not.toContain(word);
          }
          await kernel.collectGarbage();
          await world.close();
          expect(searchFiles(world.path, words)).toEqual([]);
          const again = await world.kernel();
          for (const sentence of world.said.filter((one) => !world.erased.includes(one)))
            expect(await findSaid(again, sentence), sentence).toBeDefined();
        } finally {
          await world.close();
        }
      }),
      { numRuns: proofRounds(300, 6) },
    );
  },
);
