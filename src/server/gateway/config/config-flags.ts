import type { ValueOrigin } from "./config-problem.ts";

/** Settings of the command line, as typed. */
export interface ConfigFlags {
  readonly host?: string;
  readonly port?: string;
  readonly policy?: string;
  readonly dryRun?: boolean;
  readonly threshold?: string;
  readonly when?: string;
  readonly recall?: string;
  readonly redact?: boolean;
  readonly log?: string;
  /** "name=address", or only an address for one upstream that takes all requests. */
  readonly upstream?: readonly string[];
}

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface Setting {
  readonly path: readonly [string, ...string[]];
  readonly flag: Exclude<keyof ConfigFlags, "upstream">;
  readonly option: string;
  readonly variable: string;
  readonly expected?: string;
  read(given: string | boolean): unknown;
}

/** The last five are words of earlier versions. */
const RECALL_VALUES: Readonly<Record<string, object>> = {
  start: { offer: "start", context: false },
  edit: { offer: "edit", context: false },
  never: { offer: "never", context: false },
  always: { offer: "always", context: false },
  all: { offer: "always", context: true },
  off: { offer: "never", context: false },
  "after-edit": { offer: "edit", context: false },
  none: { offer: "never", context: false },
  tools: { offer: "always", context: false },
  context: { offer: "never", context: true },
};
const BOOLEAN_VALUES: Readonly<Record<string, boolean>> = { "1": true, true: true, "0": false, false: false };

const keepValue = (given: string | boolean) => given;
const parseNumber = (given: string | boolean) => (/^\d+$/.test(String(given)) ? Number(given) : given);
const parseBoolean = (given: string | boolean) => BOOLEAN_VALUES[String(given)] ?? given;

/** Settings available without a file. An unreadable value is passed on unchanged, so that the schema reports it. */
const SETTINGS: readonly Setting[] = [
  { path: ["host"], flag: "host", option: "--host", variable: "LONGHAUL_HOST", read: keepValue },
  { path: ["port"], flag: "port", option: "--port", variable: "LONGHAUL_PORT", read: parseNumber },
  { path: ["policy"], flag: "policy", option: "--policy", variable: "LONGHAUL_POLICY", read: keepValue },
  { path: ["dryRun"], flag: "dryRun", option: "--dry-run", variable: "LONGHAUL_DRY_RUN", read: parseBoolean },
  {
    path: ["threshold"],
    flag: "threshold",
    option: "--threshold",
    variable: "LONGHAUL_THRESHOLD",
    read: parseNumber,
  },
  { path: ["when"], flag: "when", option: "--when", variable: "LONGHAUL_WHEN", read: keepValue },
  {
    path: ["recall"],
    flag: "recall",
    option: "--recall",
    variable: "LONGHAUL_RECALL",
    expected: `one of ${Object.keys(RECALL_VALUES).join(", ")}`,
    read: (given) => RECALL_VALUES[String(given)] ?? given,
  },
  { path: ["redact"], flag: "redact", option: "--redact", variable: "LONGHAUL_REDACT", read: parseBoolean },
  { path: ["log", "level"], flag: "log", option: "--log", variable: "LONGHAUL_LOG", read: keepValue },
];

/** Names of the variables that set a single setting. */
export const SETTING_VARIABLES: readonly string[] = SETTINGS.map(({ variable }) => variable);

/** A value set by an option or a variable. */
interface GivenValue {
  readonly path: readonly [string, ...string[]];
  readonly value: unknown;
  readonly from: "flags" | "environment";
  readonly as: ValueOrigin;
}

/** Values set by options and variables; options take precedence. */
export function collectGivenValues(flags: ConfigFlags, env: Environment): readonly GivenValue[] {
  return SETTINGS.flatMap(({ path, flag, option, variable, expected, read }): readonly GivenValue[] => {
    const given = flags[flag];
    const other = env[variable];
    const more = expected === undefined ? {} : { expected };
    if (given !== undefined)
      return [{ path, value: read(given), from: "flags", as: { label: option, ...more } }];
    if (other === undefined || other === "") return [];
    return [{ path, value: read(other), from: "environment", as: { label: variable, ...more } }];
  });
}
