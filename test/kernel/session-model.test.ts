import fc from "fast-check";
import { expect } from "vitest";
import { type Entry, type Kernel, openKernel, type Session } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { textOf } from "../support/kernel.ts";
import { proofRounds, sizedTest } from "../support/proof.ts";

/** The simplest model of a session: an array of all messages, and an array of the current line. */
class Napkin {
  readonly log: string[] = [];
  line: number[] = [];
  lineSeq = 0;
  readonly left = new Map<number, number[]>();
  readonly redacted = new Set<number>();

  say(text: string): void {
    this.log.push(text);
    this.line.push(this.log.length);
  }

  choose(next: number[]): void {
    this.left.set(this.lineSeq, [...this.line]);
    this.log.push("(line)");
    this.lineSeq = this.log.length;
    this.line = next;
  }

  textAt(seq: number): string {
    return this.redacted.has(seq) ? "(redacted)" : (this.log[seq - 1] ?? "(nothing)");
  }
}

const step = fc.record({
  kind: fc.constantFrom(
    "say",
    "say",
    "say",
    "many",
    "together",
    "draft",
    "rewind",
    "edit",
    "replace",
    "remove",
    "choose",
    "redact",
    "reopen",
  ),
  pick: fc.nat(10_000),
  text: fc.string({ unit: "grapheme", maxLength: 40 }),
});

sizedTest("a session behaves like an array through any series of calls, restarts included", async () => {
  const path = testFolder();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 7 }),
      async (steps, limit) => {
        // Words that one run erases stay erased for their person only.
        const id = `@person${run++}/run`;
        let kernel: Kernel = await openKernel({ path });
        try {
          let session = await kernel.session(id);
          const napkin = new Napkin();
          for (const { kind, pick, text } of steps) {
            const seq = napkin.line[pick % Math.max(napkin.line.length, 1)] ?? 0;
            const index = napkin.line.indexOf(seq);
            if (kind === "say") {
              await session.append({ role: "user", text });
              napkin.say(text);
            } else if (kind === "many") {
              await session.appendAll([
                { role: "user", text },
                { role: "assistant", text: `reply ${pick}` },
              ]);
              napkin.say(text);
              napkin.say(`reply ${pick}`);
            } else if (kind === "together") {
              const said = [1, 2, 3].map((n) => `${text}${n}`);
              await Promise.all(said.map((words) => session.append({ role: "user", text: words })));
              for (const words of said) napkin.say(words);
            } else if (kind === "draft") {
              const draft = session.draft({ role: "assistant", text: "" });
              for (const character of text) draft.write(character);
              if (pick % 3 === 0) await draft.flush();
              if (pick % 5 === 0) await draft.discard();
              else {
                await draft.finish();
                napkin.say(text);
              }
            } else if (kind === "reopen") {
              await kernel.close();
              kernel = await openKernel({ path });
              session = await kernel.session(id);
            } else if (kind === "choose") {
              const known = [...napkin.left.keys()];
              if (known.length === 0) continue;
              const lineSeq = known[pick % known.length] as number;
              await session.choose(lineSeq);
              napkin.choose([...(napkin.left.get(lineSeq) ?? [])]);
            } else if (seq > 0) {
              if (kind === "rewind") {
                await session.rewind(seq);
                napkin.choose(napkin.line.slice(0, index + 1));
              } else if (kind === "edit") {
                await session.edit(seq, { role: "user", text });
                napkin.choose(napkin.line.slice(0, index));
                napkin.say(text);
              } else if (kind === "replace") {
                const next = napkin.line.toSpliced(index, 1, napkin.log.length + 1);
                await session.replace(seq, { role: "user", text });
                napkin.log.push(text);
                napkin.choose(next);
              } else if (kind === "remove") {
                await session.remove(seq);
                napkin.choose(napkin.line.toSpliced(index, 1));
              } else if (kind === "redact") {
                await session.redact(seq);
                napkin.redacted.add(seq);
                napkin.log.push("(pin)");
              }
            }
          }
          const wanted = napkin.line.map((seq) => [seq, napkin.textAt(seq)]);
          expect(await readBackward(session, limit)).toEqual(wanted);
          expect(await readForward(session, limit)).toEqual(wanted);
          expect((await session.head()).seq).toBe(napkin.log.length);
          for (let seq = 1; seq <= napkin.log.length; seq++)
            expect(textOf(await session.entry(seq))).toBe(napkin.textAt(seq));
        } finally {
          await kernel.close();
        }
      },
    ),
    { numRuns: proofRounds(150) },
  );
});

const shown = (entries: readonly Entry[]) => entries.map((entry) => [entry.seq, textOf(entry)]);

async function readBackward(session: Session, limit: number) {
  let page = await session.page({ limit });
  const all = shown(page.entries);
  while (page.before) {
    page = await session.page({ limit, before: page.before });
    all.unshift(...shown(page.entries));
  }
  return all;
}

async function readForward(session: Session, limit: number) {
  let start = await session.page({ limit });
  while (start.before) start = await session.page({ limit, before: start.before });
  const all = shown(start.entries);
  for (
    let page = await session.page({ limit, after: start.after });
    page.entries.length > 0;
    page = await session.page({ limit, after: page.after })
  ) {
    all.push(...shown(page.entries));
  }
  return all;
}
