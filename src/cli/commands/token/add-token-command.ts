import { formatBudget } from "../../../kernel/faces/people.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { defineCommand } from "../../cli-command.ts";
import type { CliContext } from "../../cli-context.ts";
import { EXIT } from "../../exit-code.ts";
import { openStore } from "../../open-store.ts";
import {
  EXPIRY_OPTION,
  getActor,
  PERSON_SETTINGS,
  parseExpiry,
  readBudgetOptions,
  readPersonSettings,
} from "../../team/person-options.ts";
import { escapeLine } from "../../terminal/escape.ts";
import { printJson } from "../../terminal/print-lines.ts";
import { printTo } from "../../terminal/printer.ts";
import { UsageError } from "../../usage-error.ts";

/** Adds a person and prints the secret. */
export const addTokenCommand = defineCommand({
  name: "token add",
  summary: "add a person and print the token, once",
  usage: ["token add <name> [--role ROLE] [--budget BUDGET]… [--expires TIME] [options]"],
  about:
    "The token is printed once and stored as a digest: every gateway over the store knows it at once. With the first person, gateways over the store ask everybody for a token.",
  options: { ...PERSON_SETTINGS, ...EXPIRY_OPTION },
  maxOperands: 1,
  examples: [
    "longhaul token add alice --budget 50/month",
    'longhaul token add bob --budget "2m tokens/day" --budget 10/day:model=claude-opus-* --rpm 60',
    "longhaul token add carol --role admin --expires 90d",
  ],
  async run(context, { operands: [name], options }) {
    if (name === undefined) throw new UsageError("name the person: longhaul token add alice");
    const { expires } = options;
    const expiresAt = expires === undefined ? undefined : parseExpiry(expires, Date.now());
    const settings = readPersonSettings(options);
    const rules = readBudgetOptions(options);
    await using kernel = await openStore(context, options);
    const by = getActor();
    const { person, secret } = await kernel.team.add(name, {
      ...settings,
      by,
      ...dropUndefined({ expiresAt }),
    });
    for (const rule of rules) await kernel.team.setBudget({ ...rule, person: name }, { by });
    if (options.json) {
      const budgets = await kernel.team.budgets(name);
      const json = { person, token: secret, expiresAt: expiresAt ?? null, budgets };
      await printJson(context, json);
    } else await printSecret(context, options, name, secret, rules.map(formatBudget));
    return EXIT.fine;
  },
});

/** Prints only the secret on standard output; hints go to standard error. */
export async function printSecret(
  context: CliContext,
  { quiet }: { readonly quiet?: boolean },
  name: string,
  secret: string,
  facts: readonly string[],
): Promise<void> {
  await printTo(context.stdout, `${secret}\n`);
  if (quiet) return;
  const limits = facts.length > 0 ? ` Budgets: ${facts.map(escapeLine).join(", ")}.` : "";
  context.stderr.write(
    `This is the token of ${escapeLine(name)}, shown only now.${limits} Agents send it as x-longhaul-token, or as their key if the gateway has the provider's.\n`,
  );
}
