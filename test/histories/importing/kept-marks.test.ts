import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { importSources } from "../../../src/histories/index.ts";
import type { Session } from "../../../src/kernel/index.ts";
import { textOfMessage } from "../../../src/model/message.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";

const ID = "11111111-2222-4333-8444-555555555555";

/** A line of a transcript of Claude Code; each message names the one that it follows. */
function line(uuid: string, parentUuid: string | null, text: string): string {
  const isUser = uuid.startsWith("u");
  const own = { isSidechain: false, userType: "external", cwd: "/srv/app", sessionId: ID, version: "2.1.0" };
  const message = isUser
    ? { role: "user", content: text }
    : { id: uuid, type: "message", role: "assistant", model: "claude-9", content: [{ type: "text", text }] };
  const timestamp = "2026-11-01T10:00:00.000Z";
  return `${JSON.stringify({ parentUuid, ...own, type: isUser ? "user" : "assistant", message, uuid, timestamp })}\n`;
}

async function importTranscript(...lines: readonly string[]) {
  const kernel = await testKernel();
  const folder = join(testFolder(), "projects", "-srv-app");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${ID}.jsonl`);
  writeFileSync(file, lines.join(""));
  const run = () => importSources(kernel, [file]);
  const { sources } = await run();
  const session = await kernel.session(sources[0]?.session);
  const grow = async (...more: readonly string[]) => {
    appendFileSync(file, more.join(""));
    await run();
  };
  return { session, grow };
}

const BEGUN = [
  line("u1", null, "first question"),
  line("a1", "u1", "first answer"),
  line("u2", "a1", "second question"),
  line("a2", "u2", "second answer"),
];

async function seqOf(session: Session, words: string): Promise<number> {
  for (const entry of await session.read({ from: 1, limit: 100, kinds: ["message"] }))
    if (entry.kind === "message" && textOfMessage(entry.message) === words) return entry.seq;
  throw new Error(`no message says ${words}`);
}

async function wordsOf(session: Session): Promise<readonly string[]> {
  const { entries } = await session.page({ limit: 100, kinds: ["message"] });
  return entries.flatMap((entry) => (entry.kind === "message" ? [textOfMessage(entry.message)] : []));
}

async function windowOf(session: Session): Promise<readonly string[]> {
  const { messages } = await session.window({ model: "gpt-4o-mini" }).fit();
  return messages.map(textOfMessage);
}

test.each([
  ["goes back and on", [line("u3", "a1", "another question"), line("a3", "u3", "another answer")]],
  [
    "has two branches and makes a third",
    [
      line("u3", "a1", "another question"),
      line("u4", "a1", "a third question"),
      line("a4", "u4", "another answer"),
    ],
  ],
])("pins and edits of a person hold when the agent %s in an imported conversation", async (_, more) => {
  const { session, grow } = await importTranscript(...BEGUN);
  await session.pin(await seqOf(session, "first question"));
  const at = await seqOf(session, "first answer");
  const hide = { type: "hide", ranges: [{ session: session.id, from: at, to: at }] } as const;
  const { seq } = await session.overlays.add(hide, "not wanted", "person");
  await grow(...more);
  expect(await wordsOf(session)).toEqual(expect.arrayContaining(["first answer", "another answer"]));
  expect(await wordsOf(session)).not.toContain("second answer");
  expect(await windowOf(session)).not.toContain("first answer");
  const pins = await session.page({ limit: 100, kinds: ["pin"] });
  expect(pins.entries).toHaveLength(1);
  await session.overlays.revert(seq);
  await grow(line("u9", "a1", "a last question"));
  expect(await windowOf(session)).toEqual(["first question", "first answer", "a last question"]);
});

test("an edit of messages that the agent has left takes no part in its other branch", async () => {
  const { session, grow } = await importTranscript(...BEGUN);
  const from = await seqOf(session, "second question");
  const messages = [{ role: "user", text: "a summary of the second question" }] as const;
  const ranges = [{ session: session.id, from, to: from + 1 }];
  await session.overlays.add({ type: "summarize", ranges, messages }, "short", "person");
  expect(await windowOf(session)).toContain("a summary of the second question");
  await grow(line("u3", "a1", "another question"));
  expect(await windowOf(session)).toEqual(["first question", "first answer", "another question"]);
});

test("a message that a person removed from an imported conversation stays removed", async () => {
  const { session, grow } = await importTranscript(...BEGUN);
  await session.remove(await seqOf(session, "first answer"));
  await grow(line("u3", "a1", "another question"), line("a3", "u3", "another answer"));
  expect(await wordsOf(session)).toEqual(["first question", "another question", "another answer"]);
});
