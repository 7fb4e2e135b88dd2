import {
  type BudgetStatus,
  formatBudget,
  formatBudgetAmount,
  type Person,
  type PersonToken,
} from "../../../kernel/faces/people.ts";
import type { Kernel } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { defineCommand } from "../../cli-command.ts";
import { EXIT } from "../../exit-code.ts";
import { openExistingStore } from "../../open-store.ts";
import { parseDuration } from "../../tasks/units.ts";
import {
  EXPIRY_OPTION,
  getActor,
  PERSON_SETTINGS,
  parseExpiry,
  readBudgetOptions,
  readPersonSettings,
} from "../../team/person-options.ts";
import { choosePaint } from "../../terminal/choose-paint.ts";
import { escapeLine } from "../../terminal/escape.ts";
import { formatQuantity } from "../../terminal/format-count.ts";
import type { Paint } from "../../terminal/paint.ts";
import { printDone, printJson, printLines } from "../../terminal/print-lines.ts";
import { printTo } from "../../terminal/printer.ts";
import { type Column, renderTable } from "../../terminal/table.ts";
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
      ...dropUndefined({ expiresAt }),
    });
    if (options.json)
      await printJson(context, { person, token: secret, expiresAt: expiresAt ?? null, formerEndsAt });
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
    await printDone(
      context,
      options,
      () => ({ person: name, revoked }),
      () => [`Revoked ${formatQuantity(revoked, "token")} of ${escapeLine(name)}.`],
    );
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
    const listOwn = async () => (await team.budgets(name ?? "")).filter((budget) => budget.person === name);
    const known = await listOwn();
    for (const id of options.remove ?? [])
      if (!known.some((budget) => budget.id === id))
        throw new UsageError(`${name ?? "the team"} has no budget ${id}`);
    const person = name === undefined ? undefined : await team.change(name, { ...settings, by });
    for (const id of options.remove ?? []) await team.removeBudget(id, { by });
    for (const rule of rules) await team.setBudget({ ...rule, ...owner }, { by });
    const budgets = await listOwn();
    if (options.json) await printJson(context, { person: person ?? null, budgets });
    else if (!options.quiet) {
      const lines = budgets.map((budget) => `  ${budget.id}  ${describeBudget(budget)}`);
      const title = person ? `${person.name}: ${person.role}` : "Budgets of the team";
      await printTo(context.stdout, `${[title, ...lines].map(escapeLine).join("\n")}\n`);
    }
    return EXIT.fine;
  },
});

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
      await printJson(context, json);
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

/** A person with tokens and budgets. */
interface ListedPerson {
  readonly person: Person;
  readonly tokens: readonly PersonToken[];
  readonly budgets: readonly BudgetStatus[];
}

const COLUMNS: readonly Column[] = [
  { title: "name" },
  { title: "role", look: "cyan" },
  { title: "token" },
  { title: "budgets", shrinks: "first" },
  { title: "models" },
];

/** The people of a store as a table. */
function renderPeople(
  people: readonly ListedPerson[],
  view: { readonly width: number; readonly paint: Paint; readonly now: number },
): readonly string[] {
  const rows = people.map(({ person, tokens, budgets }) => [
    person.name,
    person.role,
    describeTokens(tokens, view.now),
    budgets.map(describeBudget).join(", ") || "–",
    person.models?.join(", ") ?? "all",
  ]);
  return renderTable(COLUMNS, rows, view);
}

/** The state of the newest token, and of others that are still valid. */
function describeTokens(tokens: readonly PersonToken[], now: number): string {
  const valid = tokens.filter((token) => isValid(token, now));
  const newest = valid.at(-1);
  if (!newest)
    return tokens.length === 0 ? "none" : tokens.at(-1)?.revokedAt === undefined ? "expired" : "revoked";
  const end = newest.expiresAt === undefined ? "valid" : `until ${formatDay(newest.expiresAt)}`;
  const former = valid.slice(0, -1).map(({ expiresAt }) => expiresAt ?? 0);
  return former.length === 0 ? end : `${end}, former until ${formatDay(Math.max(...former))}`;
}

function isValid({ expiresAt = Number.POSITIVE_INFINITY, revokedAt }: PersonToken, now: number): boolean {
  return revokedAt === undefined && expiresAt > now;
}

function formatDay(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}

/** A budget with its share in use, as in "$12.50 of $50 per month (25 %)". */
function describeBudget(budget: BudgetStatus): string {
  const { spent, reserved, amount, unit } = budget;
  const share = amount > 0 ? Math.round(((spent + reserved) / amount) * 100) : 100;
  return `${formatBudgetAmount(spent + reserved, unit)} of ${formatBudget(budget)} (${share} %)`;
}
