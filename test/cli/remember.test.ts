import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { jsonHere, runHere } from "./support/here.ts";
import { storeWith } from "./support/long-session.ts";
import { runProgram } from "./support/program.ts";

describe("longhaul remember", () => {
  test("longhaul remember saves memories for an agent, and lists pinned and other memories", async () => {
    const store = testFolder();
    const first = await runProgram(["remember", "Answer in German.", "--store", store]);
    expect(first.stdout).toBe("Remembered memory:default#1: Answer in German.\n");
    for (let index = 0; index < 10; index++)
      await runHere(["remember", "fact", String(index), "--store", store]);
    const noted = await jsonHere([
      "remember",
      "--agent",
      "support",
      "--by",
      "agent",
      "db-3 is slow",
      "--store",
      store,
    ]);
    expect(noted.value.memory).toMatchObject({ id: "memory:support#1", by: "agent", text: "db-3 is slow" });
    const { value } = await jsonHere(["memories", "--store", store]);
    expect(value.agent).toBe("default");
    expect(value.memories).toHaveLength(11);
    expect(value.memories[0]).toMatchObject({ text: "fact 9", by: "user", isPinned: true });
    expect(value.memories[10]).toMatchObject({ text: "Answer in German.", isPinned: false });
    const { stdout } = await runHere(["memories", "--agent", "support", "--store", store]);
    expect(stdout).toMatch(
      /^memory +by +when +pin +text\nmemory:support#1 +agent +just now +pin +db-3 is slow\n$/,
    );
  });

  test("longhaul remember can read the text from its input", async () => {
    const store = testFolder();
    const { stdout } = await runProgram(["remember", "-", "--store", store], { input: "\nfrom the pipe\n" });
    expect(stdout).toBe("Remembered memory:default#1: from the pipe\n");
  });

  test("longhaul remember refuses blank and long texts and an unknown author", async () => {
    const store = testFolder();
    for (const [args, words] of [
      [[" "], "the text to remember is empty"],
      [[], "the text to remember is empty"],
      [["x", "--by", "god"], '--by is "god"'],
      [["x".repeat(11_000)], "at most 10240 bytes"],
    ] as const) {
      const ended = await runHere(["remember", ...args, "--store", store]);
      expect(ended.stderr).toContain(words);
      expect(ended.code).toBe(2);
    }
  });
});

describe("longhaul forget", () => {
  test("longhaul forget removes a memory from the pins, from recall and from disk", async () => {
    const store = testFolder();
    await runHere(["remember", "The locker code is xylophone90210.", "--store", store]);
    await runHere(["remember", "Lunch is at noon.", "--store", store]);
    expect((await jsonHere(["recall", "xylophone90210", "--store", store])).value.hits).not.toEqual([]);
    const { stdout } = await runHere(["forget", "memory:default#1", "--store", store]);
    expect(stdout).toBe("Forgot memory:default#1.\n");
    expect((await jsonHere(["recall", "xylophone90210", "--store", store])).value.hits).toEqual([]);
    const files = readdirSync(store, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    for (const { parentPath, name } of files)
      expect(readFileSync(join(parentPath, name)).includes("xylophone90210")).toBe(false);
    expect((await runHere(["forget", "memory:default#1", "--store", store])).code).toBe(1);
  });

  proofTest(
    "longhaul forget erases an entry with the summaries made from it, after a confirmation",
    async () => {
      const store = await storeWith("chat", async (session) => {
        await session.append({ role: "user", text: "Please keep my secret zanzibar77 in mind." });
        for (let index = 0; index < 8; index++)
          await session.append({ role: "user", text: `Then step ${index}.` });
        const ranges = [{ session: "chat", from: 1, to: 3 }];
        const messages = [{ role: "user" as const, text: "The secret is zanzibar77." }];
        await session.overlays.add({ type: "summarize", ranges, messages }, "test");
      });
      const asked = await runHere(["forget", "chat#1", "--store", store]);
      expect(asked.stderr).toContain("forgetting chat#1 needs --yes");
      expect(asked.code).toBe(2);
      const { value } = await jsonHere(["forget", "chat#1", "--yes", "--store", store]);
      expect(value.forgotten).toMatchObject([{ name: "chat#1", kind: "entry" }]);
      const { stdout: recalled } = await runHere(["recall", "zanzibar77", "--store", store, "--json"]);
      expect(JSON.parse(recalled).hits.map(({ text }: { text: string }) => text)).not.toContainEqual(
        expect.stringContaining("zanzibar77"),
      );
      await using kernel = await openKernel({ path: store });
      const session = await kernel.session("chat");
      const { messages } = await session.window({ model: "claude-sonnet-4-5" }).fit();
      expect(JSON.stringify(messages)).not.toContain("zanzibar77");
      expect(JSON.stringify(messages)).toContain("Then step 1.");
    },
  );

  proofTest("longhaul forget erases a whole conversation", async () => {
    const store = await storeWith("chat", async (session) => {
      await session.append({ role: "user", text: "Remember the ocelot." });
    });
    expect((await jsonHere(["recall", "ocelot", "--store", store])).value.hits).toHaveLength(1);
    expect((await runHere(["forget", "chat", "-y", "--store", store])).stdout).toBe("Forgot chat.\n");
    expect((await jsonHere(["recall", "ocelot", "--store", store])).value.hits).toEqual([]);
    expect((await runHere(["forget", "chat", "-y", "--store", store])).code).toBe(1);
  });
});
