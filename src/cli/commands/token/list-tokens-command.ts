import type { Kernel } from "../../../index.ts";
import { choosePaint } from "../../choose-paint.ts";
import { defineCommand } from "../../cli-command.ts";
import { toSafeJson } from "../../escape.ts";
import { EXIT } from "../../exit-code.ts";
import { openExistingStore } from "../../open-store.ts";
import { printLines } from "../../print-lines.ts";
import { printTo } from "../../printer.ts";
import { describeBudget, type ListedPerson, renderPeople } from "../../team/render-people.ts";

/** Lists the people of the store. */
export const listTokensCommand = defineCommand({
  name: "token list",
  summary: "list people with their roles, tokens and budgets",
  usage: ["token list"],
  options: {},
  maxOperands: 0,
  examples: ["longhaul token list", "longhaul token list --json"],
  async run(context, { options }) {
    await using kernel = await openExistingStore(context, options);
    const people = await readPeople(kernel);
    const shared = (await kernel.team.budgets("")).filter(({ person }) => person === undefined);
    if (options.json) {
      const json = {
        people: people.map(({ person, tokens, budgets }) => ({
          ...person,
          tokens: tokens.map(({ digest, person: _, ...token }) => ({ id: digest.slice(0, 12), ...token })),
          budgets,
        })),
        shared,
      };
      await printTo(context.stdout, `${toSafeJson(json)}\n`);
      return EXIT.fine;
    }
    const view = {
      width: context.columns.stdout,
      paint: choosePaint(context, options),
      now: Date.now(),
    };
    const lines =
      people.length === 0
        ? ['There is nobody yet; "longhaul token add NAME" adds a person.']
        : renderPeople(people, view);
    const team = shared.map((budget) => `team: ${describeBudget(budget)}`);
    await printLines(context, [...lines, ...team]);
    return EXIT.fine;
  },
});

/** Reads all people with tokens and their own budgets. */
async function readPeople({ team }: Kernel): Promise<readonly ListedPerson[]> {
  const budgets = await team.budgets();
  return Promise.all(
    (await team.people()).map(async (person) => ({
      person,
      tokens: await team.tokens(person.name),
      budgets: budgets.filter((budget) => budget.person === person.name),
    })),
  );
}
