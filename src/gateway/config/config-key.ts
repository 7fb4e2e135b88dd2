import { createConfigInvalidError } from "./config-problem.ts";

const STEP = /^(?:\.?([\w$-]+)|\[("(?:[^"\\]|\\.)*")\])/;

/** Parses a key such as `recall.tools` or `models["gpt-5*"].window` into its names; throws CONFIG_INVALID. */
export function parseConfigKey(key: string): readonly [string, ...string[]] {
  const names: string[] = [];
  for (let rest = key; rest !== ""; ) {
    const step = STEP.exec(rest);
    if (!step || (names.length === 0 && rest.startsWith(".")))
      throw createConfigInvalidError([
        {
          key,
          message: `${JSON.stringify(key)} is no key; write it as recall.tools or models["gpt-5*"].window, and change lists as a whole.`,
        },
      ]);
    names.push(step[1] ?? JSON.parse(step[2] as string));
    rest = rest.slice(step[0].length);
  }
  if (names.length === 0)
    throw createConfigInvalidError([{ key: "key", message: "the key is empty; write it as recall.tools." }]);
  return names as [string, ...string[]];
}

/** The value at a key; undefined if it is not set. */
export function getConfigValue(config: object, names: readonly string[]): unknown {
  let value: unknown = config;
  for (const name of names) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
