import { expect, test } from "vitest";
import type { PartInput } from "../../src/model/part.ts";
import { testKernel } from "../support/kernel.ts";
import { type Fixture, testMemory } from "./test-memory.ts";

let calls = 0;

/** Appends a tool call and its output; returns the seq of the call. */
async function act(
  { say }: Fixture,
  name: string,
  input: Extract<PartInput, { type: "tool-call" }>["input"],
  output: string,
  session = "a",
): Promise<number> {
  const callId = `fix-${++calls}`;
  const seq = await say(session, { role: "assistant", parts: [{ type: "tool-call", callId, name, input }] });
  await say(session, { role: "tool", parts: [{ type: "tool-result", callId, output }] });
  return seq;
}

const ERROR = "src/login.ts(41,7): error TS2304: Cannot find name 'sessionToken'.";
const edit = (file: string) => ({ file_path: file, old_string: "a", new_string: "b" });

test("the fix of an error is the edit after which the same program ran without it, with commit and later changes", async () => {
  const fixture = await testMemory();
  await fixture.say("a", "Please make the login work.");
  await act(fixture, "Bash", { command: "npx tsc --noEmit" }, `Checking\n${ERROR}`);
  const seq = await act(fixture, "Edit", edit("/shop/src/login.ts"), "ok");
  const run = await act(fixture, "Bash", { command: "npx tsc --noEmit" }, "Done.");
  await act(fixture, "Bash", { command: 'git commit -am "Name the token"' }, "[main 1a2b3c4] Name the token");
  const found = await fixture.memory.recall(ERROR.replace("41,7", "52,9"));
  expect(found.hits[0]).toMatchObject({ session: "a", seq });
  expect(found.isSure).toBe(true);
  expect(found.fix).toMatchObject({
    error: ERROR,
    program: "npx tsc",
    session: "a",
    confirmed: `a#${run + 1}`,
    files: ["/shop/src/login.ts"],
    steps: [{ seq, path: "/shop/src/login.ts" }],
    commit: { hash: "1a2b3c4", subject: "Name the token" },
    changedSince: [],
  });
  await act(fixture, "Edit", edit("/shop/src/login.ts"), "ok");
  expect((await fixture.memory.findFix(ERROR))?.changedSince).toEqual(["/shop/src/login.ts"]);
});

test("the fix of an error without an edit is the command between the two runs", async () => {
  const fixture = await testMemory();
  const error = "Error: Cannot find module 'left-pad' from 'src/index.js'";
  await act(fixture, "Bash", { command: "npm test" }, error);
  const seq = await act(fixture, "Bash", { command: "npm install left-pad" }, "added 1 package");
  await act(fixture, "Bash", { command: "npm test" }, "3 passed");
  const fix = await fixture.memory.findFix(error);
  expect(fix).toMatchObject({
    program: "npm test",
    files: [],
    steps: [{ seq, command: "npm install left-pad" }],
  });
});

test("an error that was never seen, always came back, or was only shown from a file has no fix", async () => {
  const fixture = await testMemory();
  expect(await fixture.memory.findFix(ERROR)).toBeUndefined();
  await act(fixture, "Bash", { command: "npx tsc --noEmit" }, ERROR);
  await act(fixture, "Edit", edit("/shop/src/login.ts"), "ok");
  await act(fixture, "Bash", { command: "npx tsc --noEmit" }, ERROR);
  expect(await fixture.memory.findFix(ERROR)).toBeUndefined();
  const shown = "panic: assignment to entry in nil map of the register";
  await act(fixture, "Bash", { command: "grep -rn panic notes.txt" }, shown, "b");
  await act(fixture, "Edit", edit("/shop/notes.txt"), "ok", "b");
  await act(fixture, "Bash", { command: "grep -rn panic notes.txt" }, "", "b");
  expect(await fixture.memory.findFix(shown)).toBeUndefined();
});

test("an attempt that was taken back does not hide the fix after it", async () => {
  const kernel = await testKernel({ path: ":memory:", embedder: null });
  const session = await kernel.session("a");
  const say: Fixture["say"] = async (_, message) => {
    const input = typeof message === "string" ? { role: "user" as const, text: message } : message;
    return (await session.append(input)).seq;
  };
  const fixture = { say } as Fixture;
  await act(fixture, "Bash", { command: "npx tsc --noEmit" }, ERROR);
  const asked = await say("a", "Now end it.");
  await act(fixture, "Edit", edit("/shop/src/wrong.ts"), "ok");
  await act(fixture, "Bash", { command: "npx tsc --noEmit" }, "Done.");
  await session.rewind(asked);
  await act(fixture, "Edit", edit("/shop/src/right.ts"), "ok");
  await act(fixture, "Bash", { command: "npx tsc --noEmit" }, "Done.");
  expect((await kernel.memory.findFix(ERROR))?.files).toEqual(["/shop/src/right.ts"]);
});

test("an edit after which the error came back is no fix of it", async () => {
  const fixture = await testMemory();
  await act(fixture, "Bash", { command: "npx tsc --noEmit" }, ERROR);
  await act(fixture, "Edit", edit("/shop/src/cache.ts"), "ok");
  await act(fixture, "Bash", { command: "npx tsc --noEmit" }, "Done.");
  await act(fixture, "Bash", { command: "npx tsc --noEmit" }, ERROR);
  expect(await fixture.memory.findFix(ERROR)).toBeUndefined();
  expect((await fixture.memory.recall(ERROR)).fix).toBeUndefined();
  await act(fixture, "Edit", edit("/shop/src/login.ts"), "ok");
  await act(fixture, "Bash", { command: "npx tsc --noEmit" }, "Done.");
  expect((await fixture.memory.findFix(ERROR))?.files).toEqual(["/shop/src/login.ts"]);
  expect((await fixture.memory.recall(ERROR)).fix?.files).toEqual(["/shop/src/login.ts"]);
});

test("a fix of another scope is not found", async () => {
  const fixture = await testMemory();
  await act(fixture, "Bash", { command: "npx tsc --noEmit" }, ERROR);
  await act(fixture, "Edit", edit("/shop/src/login.ts"), "ok");
  await act(fixture, "Bash", { command: "npx tsc --noEmit" }, "Done.");
  await fixture.say("other", "Nothing here.");
  expect(await fixture.memory.findFix(ERROR, { scope: { sessions: ["other"] } })).toBeUndefined();
  expect(await fixture.memory.findFix(ERROR, { scope: { sessions: ["a"] } })).toBeDefined();
});
