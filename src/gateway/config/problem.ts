import { LonghaulError } from "../../index.ts";

/** One thing that is wrong with the configuration. */
export interface ConfigProblem {
  /** What it is about: a key as upstreams[1].baseUrl, an option or a variable. */
  readonly key: string;
  /** What is wrong, with what was given, and what would be right. */
  readonly message: string;
}

/** A configuration that cannot be used, and all that is wrong with it. */
export class ConfigInvalidError extends LonghaulError {
  readonly problems: readonly ConfigProblem[];

  constructor(message: string, problems: readonly ConfigProblem[], path: string | undefined) {
    const keys = problems.map(({ key }) => key).join(", ");
    const details = { problems: problems.length, keys, ...(path !== undefined && { path }) };
    super("CONFIG_INVALID", message, { details });
    this.problems = problems;
  }
}

/** All problems as one error. */
export function configInvalid(problems: readonly ConfigProblem[], path?: string): ConfigInvalidError {
  const [first] = problems;
  const place = path === undefined ? "" : ` (${path})`;
  const message =
    problems.length === 1
      ? `The configuration is not valid${place}: ${first?.message}`
      : `The configuration has ${problems.length} problems${place}:\n${problems.map((one) => `- ${one.message}`).join("\n")}`;
  return new ConfigInvalidError(message, problems, path);
}

/** A path into the configuration as it is written: upstreams[1].baseUrl. */
export function keyAt(path: readonly PropertyKey[]): string {
  return path.reduce<string>((key, step) => {
    if (typeof step === "number") return `${key}[${step}]`;
    if (!/^[$\w]+$/.test(String(step))) return `${key}[${JSON.stringify(String(step))}]`;
    return key === "" ? String(step) : `${key}.${String(step)}`;
  }, "");
}
