import { expect, test } from "vitest";
import { openSqliteStore } from "../../../src/stores/sqlite/index.ts";
import { startChild } from "../../support/child.ts";
import { testFolder } from "../../support/folder.ts";
import { proofCases, proofTest, sizedTest } from "../../support/proof.ts";

async function endedBy(signal: NodeJS.Signals, kind: string) {
  const path = testFolder();
  const child = startChild(new URL("./holder.ts", import.meta.url), [path, kind]);
  const lines: string[] = [];
  for await (const line of child.lines) {
    lines.push(line);
    if (line === "ready") child.process.kill(signal);
  }
  const ended = await child.ended();
  const store = await openSqliteStore({ path });
  const task = await store.tasks.get("t");
  await store.close();
  return { ended, lines, state: task?.state, errors: child.errors() };
}

sizedTest.each(proofCases(["SIGTERM", "SIGINT", "SIGHUP"] as const))(
  "%s ends tasks and closes their resources before the process ends",
  async (signal) => {
    expect(await endedBy(signal, "plain")).toMatchObject({
      ended: signal,
      lines: ["ready", "closed"],
      state: "killed",
    });
  },
);

proofTest("a hanging clean-up delays the end of the process no longer than the grace", async () => {
  expect(await endedBy("SIGTERM", "hanging")).toMatchObject({ ended: "SIGTERM", state: "killed" });
});

test("a program with its own listener for the signal decides how it ends", async () => {
  expect(await endedBy("SIGTERM", "listening")).toMatchObject({
    ended: 7,
    lines: ["ready", "closed"],
    state: "killed",
  });
});

test("deadlines and waits keep a process alive, and only close() ends its remaining tasks", async () => {
  const child = startChild(new URL("./idle.ts", import.meta.url), []);
  const lines: string[] = [];
  for await (const line of child.lines) lines.push(line);
  expect([await child.ended(), lines, child.errors()]).toEqual([
    0,
    ["deadline", "asked", "42", "closed"],
    "",
  ]);
});
