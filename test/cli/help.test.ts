import { expect, test } from "vitest";
import { type CliCommand, isCommandGroup } from "../../src/cli/cli-command.ts";
import { COMMANDS, formatCommandHelp, formatGroupHelp, formatProgramHelp } from "../../src/cli/program.ts";
import { runHere } from "./support/here.ts";

/** The help of the program, of every command and of every command group. */
async function helpTexts(): Promise<readonly string[]> {
  const loaded = await Promise.all(Object.values(COMMANDS).map((load) => load()));
  const texts = [formatProgramHelp(loaded)];
  for (const one of loaded) {
    const members: readonly CliCommand[] = isCommandGroup(one)
      ? await Promise.all(Object.values(one.commands).map((load) => load()))
      : [one];
    if (isCommandGroup(one)) texts.push(formatGroupHelp(one, members));
    texts.push(...members.map(formatCommandHelp));
  }
  return texts;
}

test("help fits 100 columns, and aligns the descriptions of options", async () => {
  const lines = (await helpTexts()).flatMap((text) => text.split("\n"));
  expect(lines.filter((line) => line.length > 100)).toEqual([]);
  expect(lines).toContain(
    "      --picture DIR      write an SVG of the window size over time to this folder, for each",
  );
  expect(lines).toContain("                         conversation");
});

test('help uses nouns instead of clauses that begin with "what", and American spelling', async () => {
  const wrong = /\b[Ww]hat (?!if)|[Cc]olour|[Cc]atalogue|[Ss]ummaris|[Bb]roken off|\bgoes? on\b/;
  expect((await helpTexts()).filter((text) => wrong.test(text))).toEqual([]);
});

test("help groups the commands by purpose, and lists each once", async () => {
  const [help = ""] = await helpTexts();
  const titles = ["Start:", "Find and read:", "Remember and forget:", "Context and cost:"];
  expect(titles.map((title) => help.indexOf(`${title}\n`) > 0)).toEqual([true, true, true, true]);
  expect(help).not.toContain("Other:");
  for (const name of Object.keys(COMMANDS))
    expect(help.match(new RegExp(`^  ${name} `, "gm")), name).toHaveLength(1);
});

test.each([
  ["search", "recall"],
  ["ls", "sessions"],
  ["rm", "forget"],
  ["stats", "usage"],
  ["ps", "task list"],
  ["sesions", "sessions"],
])("the unknown command %s suggests %s", async (word, command) => {
  const { code, stderr } = await runHere([word]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`did you mean ${command}?`)]);
});
