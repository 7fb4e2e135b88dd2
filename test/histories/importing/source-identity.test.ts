import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { findMixedSessions, nameIntake } from "../../../src/histories/importing/source-identity.ts";
import { importSources } from "../../../src/histories/index.ts";
import type { Kernel } from "../../../src/kernel/index.ts";
import { textOfMessage } from "../../../src/model/message.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";

function talk(name: string) {
  return [
    { role: "user", content: `A question of ${name}.` },
    { role: "assistant", content: `An answer for ${name}.` },
    { role: "user", content: `And ${name} again.` },
    { role: "assistant", content: `Fine, ${name}.` },
  ];
}

function write(path: string, content: unknown): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, path.endsWith("l") ? toLines(content) : JSON.stringify(content));
  return path;
}

function toLines(content: unknown): string {
  return `${(content as unknown[]).map((one) => JSON.stringify(one)).join("\n")}\n`;
}

/** The words on the line of each imported session. */
async function readLines(kernel: Kernel): Promise<readonly (readonly string[])[]> {
  const lines: string[][] = [];
  for (const { id } of await kernel.sessions({ limit: 50 })) {
    await using session = await kernel.session(id);
    const { entries } = await session.page({ limit: 100 });
    lines.push(
      entries.flatMap((entry) =>
        entry.kind === "message" && entry.message.role === "user" ? [textOfMessage(entry.message)] : [],
      ),
    );
  }
  return lines.toSorted();
}

async function countEntries(kernel: Kernel): Promise<number> {
  let count = 0;
  for (const { id } of await kernel.sessions({ limit: 50 })) count += (await kernel.head(id)).seq;
  return count;
}

test.each(["trace.json", "trace.jsonl", "task/messages.json"])(
  "files named %s in two folders are two conversations, and importing them again adds nothing",
  async (name) => {
    const [kernel, folder] = [await testKernel(), testFolder()];
    for (const run of ["alpha", "gamma"]) write(join(folder, `run-${run}`, name), talk(run));
    const paths = [join(folder, "run-alpha"), join(folder, "run-gamma")];
    const first = await importSources(kernel, paths);
    expect(first.totals.failed).toBe(0);
    expect(await readLines(kernel)).toEqual([
      ["A question of alpha.", "And alpha again."],
      ["A question of gamma.", "And gamma again."],
    ]);
    const before = await countEntries(kernel);
    for (let time = 0; time < 3; time++) await importSources(kernel, paths);
    expect(await countEntries(kernel)).toBe(before);
  },
);

test("of two files with one id but different conversations the second is refused with both names", async () => {
  const [kernel, folder] = [await testKernel(), testFolder()];
  const files = ["alpha", "gamma"].map((run) =>
    write(join(folder, run, "talk.json"), { conversation_id: "7", messages: talk(run) }),
  );
  for (let time = 0; time < 2; time++) {
    const { sources } = await importSources(kernel, [folder]);
    expect(sources.map(({ status }) => status)).toEqual([time === 0 ? "imported" : "unchanged", "failed"]);
    for (const path of files) expect(sources[1]?.error).toContain(path);
    expect(await readLines(kernel)).toEqual([["A question of alpha.", "And alpha again."]]);
  }
});

test("a copy of a conversation, and one whose file has moved and grown, stay one session", async () => {
  const [kernel, folder] = [await testKernel(), testFolder()];
  const file = write(join(folder, "a", "talk.json"), { conversation_id: "7", messages: talk("alpha") });
  await importSources(kernel, [file]);
  const grown = [...talk("alpha"), { role: "user", content: "Later words." }];
  const moved = join(folder, "b", "talk.json");
  mkdirSync(dirname(moved));
  renameSync(file, moved);
  write(moved, { conversation_id: "7", messages: grown });
  const { sources } = await importSources(kernel, [moved]);
  expect(sources.map(({ status, added }) => [status, added.messages])).toEqual([["imported", 1]]);
  write(file, { conversation_id: "7", messages: talk("alpha") });
  expect((await importSources(kernel, [folder])).totals).toMatchObject({ failed: 0, added: { messages: 0 } });
  expect(await readLines(kernel)).toEqual([["A question of alpha.", "And alpha again.", "Later words."]]);
});

async function listMixed(kernel: Kernel): Promise<readonly string[]> {
  const records = await kernel.sessions({ limit: 50 });
  return findMixedSessions(
    kernel,
    (async function* () {
      yield* records;
    })(),
  );
}

/** Imports a file as an earlier version did: under the name of the file alone. */
async function importAsBefore(kernel: Kernel, path: string, ...turns: readonly (readonly object[])[]) {
  const id = "openai-chat/trace";
  await using session = await kernel.session(id, {
    meta: { source: { format: "openai-chat", id: "trace", path } },
  });
  const intake = await session.intake(nameIntake(id));
  const versions: [number, number][] = [];
  for (const [round, messages] of turns.entries())
    for (const [place, message] of messages.entries()) {
      const { role, content } = message as { role: "user" | "assistant"; content: string };
      const seq = await intake.append([
        {
          record: { id: `#${place}`, version: `${round}`, ...(round > 0 && { replaces: true }) },
          body: { kind: "message", message: { role, text: content } },
        },
      ]);
      if (round > 0) versions.push([seq, place + 1]);
    }
  const seqs = turns[0]?.length ?? 0;
  const lineage = { tip: seqs, end: seqs, rewound: null, segments: [], moved: [], versions, anchor: [] };
  await intake.save({ progress: { lineage, chosen: "" } });
  return id;
}

test("a conversation that an earlier version has imported keeps its session if its file lies where it did", async () => {
  const [kernel, folder] = [await testKernel(), testFolder()];
  const path = write(join(folder, "alpha", "trace.json"), talk("alpha"));
  const id = await importAsBefore(kernel, path, talk("alpha"));
  expect(await listMixed(kernel)).toEqual([]);
  const { sources } = await importSources(kernel, [folder]);
  expect(sources.map(({ session }) => session)).toEqual([id]);
});

test("two conversations that an earlier version has mixed get sessions of their own", async () => {
  const [kernel, folder] = [await testKernel(), testFolder()];
  const [, path = ""] = ["alpha", "gamma"].map((run) => write(join(folder, run, "trace.json"), talk(run)));
  const id = await importAsBefore(kernel, path, talk("alpha"), talk("gamma"));
  expect(await listMixed(kernel)).toEqual([id]);
  const { sources } = await importSources(kernel, [folder]);
  expect(new Set([...sources.map(({ session }) => session), id]).size).toBe(3);
});
