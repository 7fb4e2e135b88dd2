import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { getStorePath } from "../open-store.ts";
import { parseSize } from "../tasks/units.ts";
import { DAY, HOUR, parseLength, type TimeUnits } from "../times.ts";
import { UsageError } from "../usage-error.ts";
import type { RetentionRule } from "./retention-plan.ts";

/** "m" is a month, as for --since. */
const UNITS: TimeUnits = { h: HOUR, d: DAY, w: 7 * DAY, m: 30 * DAY, y: 365 * DAY };

interface RetentionOptions extends CommonValues {
  readonly "older-than"?: string;
  readonly "max-size"?: string;
  readonly agent?: string;
  readonly person?: string;
}

/** The rule that the options give, otherwise the rules of the configuration; those of single agents come first. */
export async function chooseRules(
  context: CliContext,
  options: RetentionOptions,
): Promise<readonly RetentionRule[]> {
  const { agent, person } = options;
  const forOne = { ...(agent !== undefined && { agent }), ...(person !== undefined && { person }) };
  if (options["older-than"] !== undefined || options["max-size"] !== undefined) {
    return [
      {
        ...forOne,
        ...(options["older-than"] !== undefined && { olderThanMs: parseAge(options["older-than"]) }),
        ...(options["max-size"] !== undefined && { maxBytes: parseSize("max-size", options["max-size"]) }),
      },
    ];
  }
  const { loadConfig } = await import("../../gateway/config/index.ts");
  const { cwd, home, env } = context;
  const { config } = loadConfig({ cwd, home, env, store: getStorePath(context, options), flags: {} });
  const { agents, people, ...general } = config.retention;
  const rules = [
    ...Object.entries(people).map(([name, rule]) => toRule(rule, { person: name })),
    ...Object.entries(agents).map(([name, rule]) => toRule(rule, { agent: name })),
    toRule(general, {}),
  ].filter(({ olderThanMs, maxBytes }) => olderThanMs !== undefined || maxBytes !== undefined);
  const wanted = rules.filter(
    (rule) =>
      (agent === undefined || rule.agent?.startsWith(agent)) &&
      (person === undefined || rule.person === person),
  );
  if (wanted.length > 0) return wanted;
  throw new UsageError(
    'there is no rule; give --older-than or --max-size, or set "retention" in the configuration: longhaul config set retention.maxAgeDays 180',
  );
}

function toRule(
  { maxAgeDays, maxBytes }: { readonly maxAgeDays?: number; readonly maxBytes?: number },
  scope: Pick<RetentionRule, "agent" | "person">,
): RetentionRule {
  return {
    ...scope,
    ...(maxAgeDays !== undefined && { olderThanMs: maxAgeDays * DAY }),
    ...(maxBytes !== undefined && { maxBytes }),
  };
}

function parseAge(text: string): number {
  const age = parseLength(text, UNITS);
  if (age !== undefined && age >= DAY) return age;
  throw new UsageError(
    `--older-than is ${JSON.stringify(text)}; expected a duration of at least a day, such as 30d, 8w, 6m or 1y`,
  );
}
