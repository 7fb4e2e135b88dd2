import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { jsonHere, runHere } from "./support/here.ts";

const FACT = "The locker code is xylophone90210.";

/** A store with a memory of the user, a note of an agent and a quote. */
async function storeWithNotes(): Promise<string> {
  const path = testFolder();
  await using kernel = await openKernel({ path });
  const memories = kernel.memories();
  await memories.remember("Answer in German.", { by: "user" });
  await memories.remember(FACT, { by: "agent" });
  await memories.remember("Visitors sign in at the desk.", { by: "quoted" });
  return path;
}

describe("longhaul memories lists an agent's notes for review until they are accepted or rejected", () => {
  test("longhaul memories lists notes of agents for review until they are accepted or rejected", async () => {
    const store = await storeWithNotes();
    const { stdout } = await runHere(["memories", "--review", "--store", store]);
    expect(stdout).toMatch(/memory:default#3 +quoted .*\nmemory:default#2 +agent /);
    expect(stdout).not.toContain("German");
    const accepted = await runHere(["memories", "3", "--accept", "--store", store]);
    expect(accepted.stdout).toBe("Accepted memory:default#3: Visitors sign in at the desk.\n");
    const { value } = await jsonHere(["memories", "memory:default#2", "--reject", "--store", store]);
    expect(value.changed).toMatchObject([{ id: "memory:default#2", by: "agent", trust: "rejected" }]);
    expect((await runHere(["memories", "--review", "--store", store])).stdout).toBe(
      "default has no memories to review.\n",
    );
    const listed = await runHere(["memories", "--store", store]);
    expect(listed.stdout).not.toContain("xylophone90210");
    expect(listed.stdout).toMatch(/memory:default#3 +quoted, accepted +just now +pin/);
    const all = await runHere(["memories", "--all", "--store", store]);
    expect(all.stdout).toMatch(/memory:default#2 +agent, rejected +just now {2,}The locker/);
    const saved = await runHere(["remember", "--by", "agent", FACT, "--store", store]);
    expect(saved.stderr).toContain("was rejected, so only the user can have it remembered again");
    expect(saved.code).toBe(1);
  });

  proofTest("longhaul memories sets dates of memories, and lists only current memories", async () => {
    const store = testFolder();
    await runHere(["remember", "Deploys are frozen.", "--until", "2026-01-01", "--store", store]);
    expect((await runHere(["memories", "--store", store])).stdout).toBe("default has no memories.\n");
    expect((await runHere(["memories", "--all", "--store", store])).stdout).toContain("until 2026-01-01");
    expect((await jsonHere(["recall", "deploys frozen", "--store", store])).value.hits).toEqual([]);
    const outdated = await jsonHere(["recall", "deploys frozen", "--outdated", "--store", store]);
    expect(outdated.value.hits).toHaveLength(1);
    await runHere(["memories", "1", "--from", "2026-01-01", "--until", "2999-01-01", "--store", store]);
    expect((await runHere(["memories", "--store", store])).stdout).toContain("from 2026-01-01 until 2999");
  });

  test("longhaul memories prints the history of all changes", async () => {
    const store = await storeWithNotes();
    await runHere(["forget", "memory:default#2", "--store", store]);
    const { stdout } = await runHere(["memories", "--history", "--store", store]);
    expect(stdout.split("\n").map((line) => line.split(/ {2,}/).slice(1).join(" | "))).toEqual([
      "change | by | memory | text",
      "forgotten | user | memory:default#2 | (erased)",
      "remembered | quoted | memory:default#3 | Visitors sign in at the desk.",
      "remembered | memory:default#2 | (erased)",
      "remembered | user | memory:default#1 | Answer in German.",
      "",
    ]);
    const { value } = await jsonHere(["memories", "--history", "--limit", "1", "--store", store]);
    expect(value.history).toMatchObject([{ change: "forgotten", memory: "memory:default#2" }]);
  });

  test("longhaul memories moves a memory to the top, or above or below another memory", async () => {
    const store = await storeWithNotes();
    const order = async (...args: string[]) => {
      if (args.length > 0) expect((await runHere(["memories", ...args, "--store", store])).code).toBe(0);
      const { value } = await jsonHere(["memories", "--store", store]);
      return value.memories.map(({ id }: { id: string }) => id.slice("memory:default".length));
    };
    expect(await order()).toEqual(["#3", "#2", "#1"]);
    expect(await order("1", "--top")).toEqual(["#1", "#3", "#2"]);
    expect(await order("1", "--below", "3")).toEqual(["#3", "#1", "#2"]);
    expect(await order("2", "--above", "memory:default#3")).toEqual(["#2", "#3", "#1"]);
  });

  test("longhaul memories refuses contradictory and incomplete calls", async () => {
    const store = await storeWithNotes();
    for (const [args, words] of [
      [["1"], "say what to do with the memories"],
      [["--accept"], "name a memory"],
      [["1", "--accept", "--reject"], "cannot be combined"],
      [["1", "--top", "--below", "2"], "cannot be combined"],
      [["1", "2", "--top"], "name one memory to move"],
      [["1", "--until", "soon"], '--until is "soon"; expected a date'],
      [["--trust", "god"], '--trust is "god"'],
      [["--all", "--trust", "user"], "cannot be combined"],
      [["chat#1", "--accept"], "is no memory"],
    ] as const) {
      const ended = await runHere(["memories", ...args, "--store", store]);
      expect(ended.stderr).toContain(words);
      expect(ended.code).toBe(2);
    }
    expect((await runHere(["memories", "9", "--accept", "--store", store])).stderr).toContain(
      "There is no memory memory:default#9",
    );
  });
});

describe("longhaul recall", () => {
  proofTest("longhaul recall filters memories by trust, and names their authors", async () => {
    const store = await storeWithNotes();
    const found = await runHere(["recall", "locker code xylophone90210", "--store", store]);
    expect(found.stdout).toContain("memory:default#2, memory, agent");
    const trusted = await runHere(["recall", "xylophone90210", "--trust", "user", "--store", store]);
    expect(trusted.stdout).not.toContain("locker");
  });
});

describe("longhaul forget", () => {
  test("longhaul forget --all removes all memories from lists, recall, context and export, and agents cannot save them again", async () => {
    const store = await storeWithNotes();
    expect((await runHere(["forget", "memory:default", "--yes", "--store", store])).code).toBe(0);
    for (const args of [
      ["memories", "--all"],
      ["memories", "--history"],
      ["recall", "locker xylophone90210"],
      ["show", "memory:default"],
      ["export", "memory:default", "--to", "markdown"],
      ["export", "memory:default", "--to", "anthropic"],
    ])
      expect((await runHere([...args, "--store", store])).stdout).not.toContain("xylophone90210");
    const saved = await runHere(["remember", "--by", "agent", FACT, "--store", store]);
    expect(saved.stderr).toContain("was forgotten");
    expect((await runHere(["remember", FACT, "--store", store])).code).toBe(0);
  });

  test("longhaul forget removes a memory from the context and the export of a session", async () => {
    const store = await storeWithNotes();
    {
      await using kernel = await openKernel({ path: store });
      await using session = await kernel.session("chat");
      await session.append({ role: "user", text: "Hello." });
      const window = session.window({ model: "claude-sonnet-4-5", memories: "default" });
      await window.fit();
      expect((await window.look()).parts.memories).toBeGreaterThan(20);
      await kernel.memories().forgetAll();
      expect(
        (await session.window({ model: "claude-sonnet-4-5", memories: "default" }).look()).parts.memories,
      ).toBe(0);
    }
    for (const args of [
      ["context", "chat", "--model", "claude-sonnet-4-5"],
      ["context", "chat", "--model", "claude-sonnet-4-5", "--json"],
      ["export", "chat", "--to", "anthropic"],
    ])
      expect((await runHere([...args, "--store", store])).stdout).not.toContain("xylophone90210");
  });
});
