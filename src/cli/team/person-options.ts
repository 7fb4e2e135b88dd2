import { userInfo } from "node:os";
import {
  type BudgetRule,
  PERSON_ROLES,
  type PersonSettings,
  parseBudget,
} from "../../kernel/faces/people.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { OptionValues } from "../cli-command.ts";
import { findNamed } from "../find-named.ts";
import { DAY, HOUR, MINUTE, parseLength, parseTime, type TimeUnits } from "../terminal/times.ts";
import { UsageError } from "../usage-error.ts";

const ROLES = PERSON_ROLES.map((name) => ({ name }));
const UNITS: TimeUnits = { min: MINUTE, h: HOUR, d: DAY, w: 7 * DAY, m: 30 * DAY, y: 365 * DAY };

/** Rights and budgets of a person. */
export const PERSON_SETTINGS = {
  role: { type: "string", value: "ROLE", help: "member (own conversations; default) or admin (everything)" },
  budget: {
    type: "string",
    multiple: true,
    value: "BUDGET",
    help: "may be repeated: 50/month (dollars), 2m tokens/day, 10/week:model=claude-opus-*, 100/month:project=shop",
  },
  rpm: { type: "string", value: "N", help: "at most N requests per minute" },
  tpm: { type: "string", value: "N", help: "at most N tokens per minute" },
  models: { type: "string", value: "LIST", help: 'allowed models, as "claude-*,gpt-5"; "all" for no limit' },
  upstreams: { type: "string", value: "LIST", help: 'allowed upstreams by name; "all" for no limit' },
} as const;

export const EXPIRY_OPTION = {
  expires: { type: "string", value: "TIME", help: "the token ends then: 90d, 1y, 2027-01-01" },
} as const;

type PersonValues = OptionValues<typeof PERSON_SETTINGS>;

/** The user who runs a command, as the audit log names it. */
export function getActor(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    // A container may run under a number without a name.
    return `cli:${process.getuid?.() ?? "unknown"}`;
  }
}

/** The role, models and upstreams that options give. */
export function readPersonSettings({ role, models, upstreams }: PersonValues): PersonSettings {
  return dropUndefined({
    role: role !== undefined ? findNamed("role", role, ROLES).name : undefined,
    models: models !== undefined ? parseList(models) : undefined,
    upstreams: upstreams !== undefined ? parseList(upstreams) : undefined,
  });
}

/** The budgets that options give, those per minute included. */
export function readBudgetOptions({ budget = [], rpm, tpm }: PersonValues): readonly BudgetRule[] {
  const rate = (name: string, text: string | undefined, unit: "requests" | "tokens"): BudgetRule[] => {
    if (text === undefined) return [];
    if (!/^\d{1,12}$/.test(text))
      throw new UsageError(`--${name} is ${JSON.stringify(text)}; expected a whole number`);
    return [{ amount: Number(text), unit, period: "minute" }];
  };
  return [...budget.map(parseBudget), ...rate("rpm", rpm, "requests"), ...rate("tpm", tpm, "tokens")];
}

/** The time at which a token ends, given as a length or a day. */
export function parseExpiry(text: string, now: number): number {
  const length = parseLength(text, UNITS);
  const time = length === undefined ? parseTime(text) : now + length;
  if (time !== undefined && time > now) return time;
  throw new UsageError(
    `--expires is ${JSON.stringify(text)}; expected a length such as 90d or a day to come such as 2027-01-01`,
  );
}

function parseList(text: string): readonly string[] | null {
  if (text === "all") return null;
  return text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}
