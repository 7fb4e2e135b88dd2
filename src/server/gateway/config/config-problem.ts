import type { z } from "zod";
import { LonghaulError } from "../../../kernel/index.ts";
import { findNearestWords } from "../../../model/edit-distance.ts";
import { getConfigSchemaJson } from "./config.ts";

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
function formatKey(path: readonly PropertyKey[]): string {
  return path.reduce<string>((key, step) => {
    if (typeof step === "number") return `${key}[${step}]`;
    if (!/^[$\w]+$/.test(String(step))) return `${key}[${JSON.stringify(String(step))}]`;
    return key === "" ? String(step) : `${key}.${String(step)}`;
  }, "");
}

/** The option or variable that a value was given by, if not by its key in the file. */
export interface ValueOrigin {
  readonly label: string;
  /** The expected value, if it differs from that in the file. */
  readonly expected?: string;
}

type Issue = z.core.$ZodIssue;

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly propertyNames?: { readonly enum?: readonly string[] };
}

/** Schema issues as messages for people. `given` holds the values from options and variables, by key. */
export function toConfigProblems(
  issues: readonly Issue[],
  raw: unknown,
  given: ReadonlyMap<string, ValueOrigin>,
): readonly ConfigProblem[] {
  return issues.flatMap((issue): readonly ConfigProblem[] => {
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => describeUnknownKey(issue.path, key));
    const inner = issue.code === "invalid_key" ? issue.issues[0]?.message : undefined;
    const name = formatKey(issue.path);
    const as = given.get(name);
    const key = as?.label ?? (name === "" ? "the file" : name);
    const expected = as?.expected ?? inner ?? issue.message;
    const value = inner === undefined ? describeValue(raw, issue.path) : "a key that cannot be";
    return [{ key, message: `${key} is ${value}; expected ${expected}.` }];
  });
}

function describeUnknownKey(path: readonly PropertyKey[], key: string): ConfigProblem {
  const known = listKnownKeys(path).filter((one) => one !== "$schema");
  const [nearest] = findNearestWords(key, known);
  const hint =
    nearest === undefined
      ? `there are ${known.join(", ")}.`
      : `did you mean ${nearest}? Otherwise take it out.`;
  const secret = /token|key|secret|password/i.test(key)
    ? " Secrets are never written here: name the variable that holds them."
    : "";
  const place = path.length === 0 ? "there is no setting" : `${formatKey(path)} has no setting`;
  return { key: formatKey([...path, key]), message: `${place} ${JSON.stringify(key)}; ${hint}${secret}` };
}

function listKnownKeys(path: readonly PropertyKey[]): readonly string[] {
  const node = path.reduce<SchemaNode | undefined>((above, step) => {
    const other = typeof above?.additionalProperties === "object" ? above.additionalProperties : undefined;
    return typeof step === "number" ? above?.items : (above?.properties?.[String(step)] ?? other);
  }, getConfigSchemaJson());
  return Object.keys(node?.properties ?? {}).concat(node?.propertyNames?.enum ?? []);
}

/** A value for display, without possible secrets. */
function describeValue(raw: unknown, path: readonly PropertyKey[]): string {
  if (path[0] === "tokens" && path.length > 2) return "something else";
  let value: unknown = raw;
  for (const step of path) value = (value as Record<PropertyKey, unknown> | undefined)?.[step];
  if (value === undefined) return "missing";
  if (typeof value === "string") {
    return JSON.stringify(value.replace(/\/\/[^@/]*@/, "//…@").slice(0, 80));
  }
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
