import { expect, test } from "vitest";
import { type CliCommand, isCommandGroup } from "../../src/cli/cli-command.ts";
import { formatCommandHelp, formatGroupHelp, formatProgramHelp } from "../../src/cli/help.ts";
import { COMMANDS } from "../../src/cli/program.ts";

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

test("help fits 100 columns, with option texts in their column", async () => {
  const lines = (await helpTexts()).flatMap((text) => text.split("\n"));
  expect(lines.filter((line) => line.length > 100)).toEqual([]);
  expect(lines).toContain(
    "      --picture DIR    write an SVG of the window size over time to this folder, for each",
  );
  expect(lines).toContain("                       conversation");
});

test("help names nouns instead of clauses with what, in American spelling", async () => {
  const wrong = /\b[Ww]hat (?!if)|[Cc]olour|[Cc]atalogue|[Ss]ummaris|[Bb]roken off|\bgoes? on\b/;
  expect((await helpTexts()).filter((text) => wrong.test(text))).toEqual([]);
});
