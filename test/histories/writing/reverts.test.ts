import { describe, expect, test } from "vitest";
import { claudeCodeWriter } from "../../../src/histories/claude-code/claude-code-writer.ts";
import { clineWriter } from "../../../src/histories/cline/cline-writer.ts";
import { exportSession } from "../../../src/histories/export-session.ts";
import { piWriter } from "../../../src/histories/pi/pi-writer.ts";
import type { Writer } from "../../../src/histories/port/writer.ts";
import { rooWriter } from "../../../src/histories/roo/roo-writer.ts";
import type { EditInput } from "../../../src/kernel/faces/window.ts";
import type { Kernel, Session } from "../../../src/kernel/index.ts";
import { testKernel } from "../../support/kernel.ts";

const WRITERS: readonly Writer[] = [claudeCodeWriter, clineWriter, piWriter, rooWriter];

/** Appends a call and its result, and edits them as the format can tell it; returns the seq of that overlay. */
async function edited(session: Session, name: string, writer: Writer): Promise<number> {
  const callId = `call ${name}`;
  const { seq: from } = await session.append({
    role: "assistant",
    parts: [{ type: "tool-call", callId, name: "read", input: {} }],
  });
  const { seq: to } = await session.append({
    role: "tool",
    parts: [{ type: "tool-result", callId, output: `All of ${name}.` }],
  });
  await session.append({ role: "user", text: "Go on." });
  const text = `Summary of ${name}`;
  const ranges = [{ session: session.id, from, to }];
  const edit: EditInput =
    writer === clineWriter
      ? { type: "replace", target: { callId }, parts: [{ type: "text", text }] }
      : { type: "summarize", ranges, messages: [{ role: "user", text }] };
  return (await session.overlays.add(edit, "full")).seq;
}

async function revertSince(session: Session, overlay: number): Promise<void> {
  const intake = await session.intake("test");
  const edit = { type: "revert", overlay, since: true } as const;
  await intake.append([{ body: { kind: "overlay", author: "user", reason: "taken back", edit } }]);
}

/** The names whose summaries an export holds, in alphabetical order. */
async function summariesIn(kernel: Kernel, id: string, writer: Writer): Promise<readonly string[]> {
  let text = "";
  for await (const piece of exportSession(kernel, id, writer)) text += piece.text;
  return [...new Set([...text.matchAll(/Summary of (\w+)/g)].map((match) => match[1] as string))].sort();
}

describe.each(WRITERS.map((writer) => [writer.name, writer] as const))("an export to %s", (_, writer) => {
  test("an exported history leaves out reverted edits", async () => {
    const kernel = await testKernel();
    await using session = await kernel.session("a talk");
    await session.append({ role: "user", text: "Begin." });
    const first = await edited(session, "A", writer);
    await edited(session, "B", writer);
    await session.overlays.revert(first);
    expect(await summariesIn(kernel, "a talk", writer)).toEqual(["B"]);
  });

  test("an exported history holds an edit whose revert was reverted", async () => {
    const kernel = await testKernel();
    await using session = await kernel.session("a talk");
    await session.append({ role: "user", text: "Begin." });
    const first = await edited(session, "A", writer);
    const { seq: revert } = await session.overlays.revert(first);
    await session.overlays.revert(revert);
    expect(await summariesIn(kernel, "a talk", writer)).toEqual(["A"]);
  });

  test("an exported history leaves out all edits after the time of a revert", async () => {
    const kernel = await testKernel();
    await using session = await kernel.session("a talk");
    await session.append({ role: "user", text: "Begin." });
    await edited(session, "A", writer);
    const second = await edited(session, "B", writer);
    await edited(session, "C", writer);
    await revertSince(session, second);
    await edited(session, "D", writer);
    expect(await summariesIn(kernel, "a talk", writer)).toEqual(["A", "D"]);
  });

  test("an exported history distinguishes edits of a fork from those of its origin with the same seq", async () => {
    const kernel = await testKernel();
    await using session = await kernel.session("a talk");
    await session.append({ role: "user", text: "Begin." });
    const first = await edited(session, "A", writer);
    await using fork = await session.fork({ id: "a fork" });
    expect(await edited(fork, "B", writer)).toBe(first);
    await fork.overlays.revert(first, { session: session.id });
    expect(await summariesIn(kernel, "a fork", writer)).toEqual(["B"]);
  });

  test("an exported history ignores a revert that has left the active line", async () => {
    const kernel = await testKernel();
    await using session = await kernel.session("a talk");
    await session.append({ role: "user", text: "Begin." });
    const first = await edited(session, "A", writer);
    await session.overlays.revert(first);
    await session.rewind(first);
    expect(await summariesIn(kernel, "a talk", writer)).toEqual(["A"]);
  });
});
