import { LonghaulError } from "../../index.ts";

/** One problem of the configuration. */
export interface ConfigProblem {
  /** A key such as upstreams[1].baseUrl, an option or a variable. */
  readonly key: string;
  /** The given value, the problem, and the expected value. */
  readonly message: string;
}

/** The error for an unusable configuration, with all its problems. */
export class ConfigInvalidError extends LonghaulError {
  readonly problems: readonly ConfigProblem[];

  constructor(message: string, problems: readonly ConfigProblem[], path: string | undefined) {
    const keys = problems.map(({ key }) => key).join(", ");
    const details = { problems: problems.length, keys, ...(path !== undefined && { path }) };
    super("CONFIG_INVALID", message, { details });
    this.problems = problems;
  }
}

/** Combines all problems into one error. */
export function createConfigInvalidError(
  problems: readonly ConfigProblem[],
  path?: string,
): ConfigInvalidError {
  const [first] = problems;
  const place = path === undefined ? "" : ` (${path})`;
  const message =
    problems.length === 1
      ? `The configuration is not valid${place}: ${first?.message}`
      : `The configuration has ${problems.length} problems${place}:\n${problems.map((one) => `- ${one.message}`).join("\n")}`;
  return new ConfigInvalidError(message, problems, path);
}

/** A path into the configuration in written form, such as upstreams[1].baseUrl. */
export function formatKey(path: readonly PropertyKey[]): string {
  return path.reduce<string>((key, step) => {
    if (typeof step === "number") return `${key}[${step}]`;
    if (!/^[$\w]+$/.test(String(step))) return `${key}[${JSON.stringify(String(step))}]`;
    return key === "" ? String(step) : `${key}.${String(step)}`;
  }, "");
}
