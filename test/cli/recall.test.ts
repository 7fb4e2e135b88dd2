import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/index.ts";
import { testFolder } from "../support/folder.ts";
import { say } from "../support/kernel.ts";
import { proofTest } from "../support/proof.ts";
import { jsonHere, runHere } from "./support/here.ts";
import { runProgram } from "./support/program.ts";

async function storeOfTwo(): Promise<string> {
  const path = testFolder();
  await using kernel = await openKernel({ path });
  await say(
    await kernel.session("team-a/1"),
    "Which port does the staging server use?",
    "The staging server listens on port 7781.",
    "Thank you \u001b[31mvery much.",
  );
  await say(await kernel.session("team-b/1"), "The staging server of team b listens on port 9912.");
  await kernel.memories("support").remember("Staging is rebuilt every night.", { by: "agent" });
  return path;
}

describe("longhaul recall", () => {
  test("shows where, who and when, and the words", async () => {
    const store = await storeOfTwo();
    const { stdout, code } = await runProgram(["recall", "port of the staging server", "--store", store]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ 1 {2}team-[ab]\/1#\d {2}user, just now, score \d/);
    expect(stdout).toContain("\n    The staging server listens on port 7781.\n");
    expect(stdout).toContain("port 9912");
  });

  test("reads the best hits with --careful and says in JSON how well each answers", async () => {
    const store = await storeOfTwo();
    const { value } = await jsonHere(["recall", "staging server port", "--careful", "--store", store]);
    expect(value.withoutReading).toBeUndefined();
    expect(value.hits[0].parts.reading).toBeGreaterThan(value.hits.at(-1).parts.reading);
    expect(value.hits[0].text).toMatch(/port \d+/);
  });

  proofTest("says with --careful if the hits keep their order because they are an agent's work", async () => {
    const store = testFolder();
    {
      await using kernel = await openKernel({ path: store });
      const session = await kernel.session("work");
      for (const callId of ["1", "2"]) {
        const input = { command: `npm test harbor ${callId}` };
        await session.append({
          role: "assistant",
          parts: [{ type: "tool-call", callId, name: "bash", input }],
        });
        const output = `harbor test ${callId} passed`;
        await session.append({ role: "tool", parts: [{ type: "tool-result", callId, output }] });
      }
    }
    const recall = async (...args: string[]) =>
      (await runHere(["recall", "harbor test", ...args, "--store", store])).stdout;
    expect(await recall("--careful")).toMatch(
      /\nNot read carefully: tool calls and results are ordered better without reading\.\n$/,
    );
    for (const args of [[], ["--careful", "--quiet"]])
      expect(await recall(...args)).not.toContain("Not read carefully");
  });

  proofTest("keeps to sessions, beginnings of ids and agents", async () => {
    const store = await storeOfTwo();
    const found = async (...args: string[]) => {
      const { value } = await jsonHere(["recall", "staging server port", ...args, "--store", store]);
      return [...new Set(value.hits.map(({ session }: { session: string }) => session))];
    };
    expect(await found("--prefix", "team-a/")).toEqual(["team-a/1"]);
    expect(await found("--session", "team-b")).toEqual(["team-b/1"]);
    expect((await found("--session", "team-b", "--session", "team-a/1")).sort()).toEqual([
      "team-a/1",
      "team-b/1",
    ]);
    expect(await found("--agent", "support")).toEqual(["memory:support"]);
    expect(await found("--path", "/repo/nowhere")).toEqual([]);
  });

  proofTest(
    "expands hits to what was said around them, and lets nothing take over the terminal",
    async () => {
      const store = await storeOfTwo();
      const args = ["recall", "listens on port 7781", "-k", "1", "--expand", "--store", store];
      const { stdout } = await runHere(args);
      expect(stdout).toContain("#1 user: Which port does the staging server use?");
      expect(stdout).toContain("#3 user: Thank you \\x1b[31mvery much.");
      const { value } = await jsonHere(args);
      expect(value.hits).toHaveLength(1);
      expect(value.hits[0]).toMatchObject({
        kind: "session",
        entry: "team-a/1#2",
        text: expect.stringContaining("7781"),
      });
      expect(value.hits[0].around.map(({ seq }: { seq: number }) => seq)).toEqual([1, 2, 3]);
    },
  );

  proofTest("says when nothing is found, or when it is not sure", async () => {
    const store = await storeOfTwo();
    const nothing = await runHere(["recall", "qqqq", "--path", "/repo/nowhere", "--store", store]);
    expect(nothing.stdout).toContain("Nothing found.");
    const unsure = await runHere([
      "recall",
      "quarterly revenue of the Lisbon subsidiary server",
      "--store",
      store,
    ]);
    expect(unsure.stdout).toContain("Low confidence: the hits match little of the question.");
  });

  test("refuses an empty question, a wrong number and a missing store", async () => {
    const store = await storeOfTwo();
    for (const [args, code, words] of [
      [["--store", store], 2, "the question is missing"],
      [["x", "-k", "0", "--store", store], 2, "--limit"],
      [["x", "--session", "nobody", "--store", store], 1, "There is no session"],
      [["x", "--store", testFolder()], 1, "There is no store"],
    ] as const) {
      const ended = await runHere(["recall", ...args]);
      expect(ended.stderr).toContain(words);
      expect(ended.code).toBe(code);
    }
  });
});
