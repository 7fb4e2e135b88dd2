import { defineCommand } from "../../cli-command.ts";
import { escapeLine, toSafeJson } from "../../escape.ts";
import { EXIT } from "../../exit-code.ts";
import { formatQuantity } from "../../format-count.ts";
import { openExistingStore } from "../../open-store.ts";
import { printTo } from "../../printer.ts";
import { parseDuration } from "../../tasks/units.ts";
import {
  EXPIRY_OPTION,
  getActor,
  PERSON_SETTINGS,
  parseExpiry,
  readBudgetOptions,
  readPersonSettings,
} from "../../team/person-options.ts";
import { describeBudget } from "../../team/render-people.ts";
import { UsageError } from "../../usage-error.ts";
import { printSecret } from "./add-token-command.ts";

/** Replaces the token of a person. */
export const rotateTokenCommand = defineCommand({
  name: "token rotate",
  summary: "print a new token of a person; the former one ends at once",
  usage: ["token rotate <name> [--grace TIME] [--expires TIME]"],
  options: {
    grace: {
      type: "string",
      value: "TIME",
      help: "how long the former token stays valid, as 24h (default: not at all)",
    },
    ...EXPIRY_OPTION,
  },
  maxOperands: 1,
  examples: ["longhaul token rotate alice", "longhaul token rotate alice --grace 24h --expires 90d"],
  async run(context, { operands: [name], options }) {
    if (name === undefined) throw new UsageError("name the person: longhaul token rotate alice");
    const { grace, expires } = options;
    const graceMs = grace === undefined ? 0 : parseDuration("grace", grace);
    const expiresAt = expires === undefined ? undefined : parseExpiry(expires, Date.now());
    await using kernel = await openExistingStore(context, options);
    const formerEndsAt = Date.now() + graceMs;
    const { person, secret } = await kernel.team.rotate(name, {
      by: getActor(),
      graceMs,
      ...(expiresAt !== undefined && { expiresAt }),
    });
    if (options.json)
      await printTo(
        context.stdout,
        `${toSafeJson({ person, token: secret, expiresAt: expiresAt ?? null, formerEndsAt })}\n`,
      );
    else {
      await printSecret(context, options, name, secret, []);
      const end =
        graceMs === 0
          ? "The former token has ended, and its open streams end within a second."
          : `The former token stays valid until ${new Date(formerEndsAt).toISOString()}.`;
      if (!options.quiet) context.stderr.write(`${end}\n`);
    }
    return EXIT.fine;
  },
});

/** Ends the tokens of a person. */
export const revokeTokenCommand = defineCommand({
  name: "token revoke",
  summary: "end all tokens of a person at once; conversations and budgets stay",
  usage: ["token revoke <name>"],
  options: {},
  maxOperands: 1,
  examples: ["longhaul token revoke alice"],
  async run(context, { operands: [name], options }) {
    if (name === undefined) throw new UsageError("name the person: longhaul token revoke alice");
    await using kernel = await openExistingStore(context, options);
    const revoked = await kernel.team.revoke(name, { by: getActor() });
    if (options.json) await printTo(context.stdout, `${toSafeJson({ person: name, revoked })}\n`);
    else if (!options.quiet)
      await printTo(context.stdout, `Revoked ${formatQuantity(revoked, "token")} of ${escapeLine(name)}.\n`);
    return EXIT.fine;
  },
});

/** Changes rights and budgets. */
export const setTokenCommand = defineCommand({
  name: "token set",
  summary: "change the role, budgets and models of a person, or the budgets of the team",
  usage: [
    "token set <name> [--role ROLE] [--budget BUDGET]… [options]",
    "token set --team [--budget BUDGET]… [--remove ID]…",
  ],
  about:
    "A budget replaces the one with the same unit, period, project and model; the count of the period continues. Budgets of the team count all people together.",
  options: {
    ...PERSON_SETTINGS,
    team: { type: "boolean", help: "budgets that all people share" },
    remove: {
      type: "string",
      multiple: true,
      value: "ID",
      help: "remove a budget by the id that is shown here",
    },
  },
  maxOperands: 1,
  examples: [
    "longhaul token set alice --budget 80/month --models claude-*,gpt-5",
    "longhaul token set alice --role admin",
    "longhaul token set --team --budget 500/month:project=shop",
  ],
  async run(context, { operands: [name], options }) {
    if ((name === undefined) === (options.team !== true))
      throw new UsageError("name either a person or --team: longhaul token set alice --budget 80/month");
    const settings = readPersonSettings(options);
    const rules = readBudgetOptions(options);
    const hasSettings = Object.keys(settings).length > 0;
    if (name === undefined && hasSettings) throw new UsageError("--team has budgets only");
    await using kernel = await openExistingStore(context, options);
    const { team } = kernel;
    const by = getActor();
    const owner = name === undefined ? {} : { person: name };
    const person = name === undefined ? undefined : await team.change(name, { ...settings, by });
    for (const id of options.remove ?? [])
      if (!(await team.removeBudget(id, { by }))) throw new UsageError(`there is no budget ${id}`);
    for (const rule of rules) await team.setBudget({ ...rule, ...owner }, { by });
    const budgets = (await team.budgets(name ?? "")).filter((budget) => budget.person === name);
    if (options.json) await printTo(context.stdout, `${toSafeJson({ person: person ?? null, budgets })}\n`);
    else if (!options.quiet) {
      const lines = budgets.map((budget) => `  ${budget.id}  ${describeBudget(budget)}`);
      const title = person ? `${person.name}: ${person.role}` : "Budgets of the team";
      await printTo(context.stdout, `${[title, ...lines].map(escapeLine).join("\n")}\n`);
    }
    return EXIT.fine;
  },
});
