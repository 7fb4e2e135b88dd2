import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseShrinkOption, sampleOf } from "../../src/cli/commands/replay-command.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { jsonHere, runHere } from "./support/here.ts";
import { storeWith, talk } from "./support/long-session.ts";
import { runProgram } from "./support/program.ts";

/** A file of messages that is long enough to be cut. */
function conversationFile(): string {
  const file = join(testFolder(), "long.json");
  const messages = Array.from({ length: 60 }, (_, round) => [
    { role: "user", content: `Question ${round} about module_${round}.ts` },
    {
      role: "assistant",
      content: `Answer ${round}: ${`see module_${round}.ts and value_${round} `.repeat(80)}`,
    },
  ]).flat();
  writeFileSync(file, JSON.stringify(messages));
  return file;
}

describe("longhaul replay", () => {
  test("longhaul replay prints the cost of each policy and the share of facts it kept", async () => {
    const { stdout, code } = await runProgram([
      "replay",
      conversationFile(),
      "--window",
      "32k",
      "--policy",
      "longhaul,cline",
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain("1 conversation, 60 requests");
    expect(stdout).toMatch(/longhaul(?: ✓)? +32k +0\.\d{3} +0\.\d{3} +\d+\.\d% +\d+\.\d%/);
    expect(stdout).toMatch(/cline(?: ✓)? +32k/);
  });

  proofTest(
    "longhaul replay compares the cost of a whole store in dollars, and names the cheapest policy in a sentence",
    async () => {
      const store = await storeWith("one", (session) => talk(session, 60));
      const run = ["replay", "--all", "--policy", "longhaul,cline", "--window", "32k", "--store", store];
      const { stdout } = await runHere(run, { columns: 100 });
      expect(stdout).toMatch(/^policy +window +dollars +cost/m);
      expect(stdout.match(/ ✓ /g)).toHaveLength(1);
      const sentence = stdout.replaceAll("\n", " ");
      expect(sentence).toMatch(
        /In a window of 32k, (longhaul|cline) costs least: \$[\d.]+ instead of \$[\d.]+, \d+% less than an unlimited window/,
      );
      const { value } = await jsonHere(run);
      expect(value.replays[0]).toMatchObject({ sessions: 1, unpricedSessions: 0 });
      expect(value.replays[0].dollars).toBeLessThan(value.replays[0].unboundedDollars);
      expect((await runHere(["replay", "one", "--all", "--store", store])).code).toBe(2);
    },
  );

  proofTest("longhaul replay writes windows and pictures to a folder", async () => {
    const [dump, picture] = [join(testFolder(), "dump"), join(testFolder(), "pictures")];
    const { stdout } = await runHere([
      "replay",
      conversationFile(),
      "--window",
      "32k",
      "--policy",
      "longhaul",
      "--dump",
      dump,
      "--picture",
      picture,
      "--json",
    ]);
    expect(JSON.parse(stdout).replays).toMatchObject([
      { policy: "longhaul", window: 32_000, sessions: 1, requests: 60 },
    ]);
    const [windows] = readdirSync(dump);
    const lines = readFileSync(join(dump, windows as string), "utf8")
      .trim()
      .split("\n");
    expect(lines).toHaveLength(60);
    expect(JSON.parse(lines[0] as string)).toMatchObject({ isHot: true, window: [{ role: "user" }] });
    expect(readFileSync(join(picture, readdirSync(picture)[0] as string), "utf8")).toMatch(
      /^<svg .*<\/svg>\n$/s,
    );
  });

  test("longhaul replay counts lost thinking, and takes the prices of any known model", async () => {
    const words = [
      "replay",
      conversationFile(),
      "--window",
      "32k",
      "--policy",
      "none",
      "--thinking",
      "bound",
    ];
    const { stdout } = await runHere([...words, "--prices", "claude-fable-5-2", "--json"]);
    const [one] = JSON.parse(stdout).replays;
    expect(one).toMatchObject({ thinkingAlive: 1, turnWhole: 1, lostThinkingTokens: 0, unpricedSessions: 0 });
    expect(one.dollars).toBeCloseTo((one.cost * 8) / 1_000_000);
    expect((await runHere(words)).stdout).toMatch(/thinking +turn/);
    const wrong = await runHere(["replay", "x", "--thinking", "none"]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("bound")]);
  });

  test("longhaul replay names a wrong window or policy", async () => {
    const wrong = await runHere(["replay", "x", "--window", "big"]);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('--window is "big"; expected a number of tokens');
    const unknown = await runHere(["replay", "x", "--policy", "longhual"]);
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain("longhaul");
    const prices = await runHere(["replay", "x", "--prices", "standart"]);
    expect([prices.code, prices.stderr]).toEqual([2, expect.stringContaining("standard")]);
  });

  test("longhaul replay can switch filters of tool results off, and lists the known filters", async () => {
    expect(parseShrinkOption([])).toEqual({});
    expect(parseShrinkOption(["tests, runs", "paths"])).toEqual({ tests: false, runs: false, paths: false });
    expect(parseShrinkOption(["tests", "all"])).toBe(false);
    expect(() => parseShrinkOption(["test"])).toThrow(
      /--shrink-off test: expected all, or filters of terminal/,
    );
  });

  proofTest.each(["--min", "--sample"])(
    "longhaul replay says that %s is a count, not a number of tokens",
    async (option) => {
      for (const words of ["1k", "2.5", "many", "0"]) {
        const { code, stderr } = await runHere(["replay", "x", option, words]);
        expect(code).toBe(2);
        expect(stderr).toContain(`${option} is "${words}"; expected a whole number`);
      }
    },
  );

  test("longhaul replay samples evenly, whether or not the count divides the total", () => {
    const all = Array.from({ length: 50 }, (_, index) => index);
    expect(sampleOf(all, 10)).toEqual([0, 5, 10, 15, 20, 25, 30, 35, 40, 45]);
    const uneven = sampleOf(all, 30);
    expect(uneven).toHaveLength(30);
    expect(uneven.at(-1)).toBeGreaterThan(47);
    const gaps = uneven.slice(1).map((value, index) => value - (uneven[index] as number));
    expect(new Set(gaps)).toEqual(new Set([1, 2]));
    expect(sampleOf(all, 60)).toEqual(all);
  });
});
