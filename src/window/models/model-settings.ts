import { checkFields } from "../../model/argument-checks.ts";
import { checkNames } from "../../model/edit-distance.ts";
import { createArgumentError } from "../../model/errors.ts";
import { parseModelId } from "../../model/model-id.ts";
import type { Prices } from "./model-data.ts";
import type { FactsOverrides } from "./model-facts.ts";
import type { ThinkingRule } from "./thinking-rule.ts";

/** Settings for one model or several. */
export interface ModelSettings extends FactsOverrides {
  /** Percentage of the window at which it is edited at the latest, 5 to 100. */
  readonly threshold?: number;
  /** Tokens kept free for the reply. */
  readonly reserveTokens?: number;
  /** Maximum number of messages in a window. */
  readonly maxMessages?: number;
  /** Turns since the last summary after which the next one is due. */
  readonly maxTurns?: number;
  /** Name of the policy. */
  readonly policy?: string;
}

const NAMES: Readonly<Record<keyof ModelSettings, true>> = {
  window: true,
  maxOutput: true,
  prices: true,
  thinking: true,
  threshold: true,
  reserveTokens: true,
  maxMessages: true,
  maxTurns: true,
  policy: true,
};
const THINKING: Readonly<Record<ThinkingRule, true>> = { bound: true, whole: true, free: true };
const PRICES: Readonly<Record<keyof Prices, true>> = {
  input: true,
  output: true,
  cacheRead: true,
  cacheWrite: true,
  cacheWriteHour: true,
};

/** Settings by model id; a key that ends in "*" matches every id with that prefix. */
export type ModelTable = Readonly<Record<string, ModelSettings>>;

/** The settings of a model. If several keys match, the longest key that sets a field wins; a whole id beats a "*". */
export function findModelSettings(id: string, table: ModelTable): ModelSettings {
  const names = new Set([id.trim().toLowerCase(), parseModelId(id).name]);
  const matching = Object.entries(table)
    .filter(([key]) => [...names].some((name) => isMatch(key.toLowerCase(), name)))
    .sort(([one], [other]) => rankKey(one) - rankKey(other));
  return Object.assign({}, ...matching.map(([, settings]) => settings));
}

/** Returns the table if it is valid, else throws ARGUMENT_INVALID. */
export function checkModelTable(table: ModelTable): ModelTable {
  checkFields("models", table);
  for (const [key, settings] of Object.entries(table)) {
    const option = `models[${JSON.stringify(key)}]`;
    const { window, maxOutput, prices = {}, threshold, thinking } = checkFields(option, settings);
    checkNames(option, settings, Object.keys(NAMES));
    checkNames(`${option}.prices`, checkFields(`${option}.prices`, prices), Object.keys(PRICES));
    if (key === "" || key.slice(0, -1).includes("*"))
      throw createArgumentError("models", key, 'a model id, or the beginning of ids followed by "*"');
    checkTokens(`${option}.window`, window);
    checkTokens(`${option}.maxOutput`, maxOutput);
    for (const [name, price] of Object.entries(prices))
      if (!(price >= 0 && price < Number.POSITIVE_INFINITY))
        throw createArgumentError(`${option}.prices.${name}`, price, "US dollars per million tokens");
    if (thinking !== undefined && !Object.hasOwn(THINKING, thinking))
      throw createArgumentError(`${option}.thinking`, thinking, `one of ${Object.keys(THINKING).join(", ")}`);
    if (threshold !== undefined && !(threshold >= 5 && threshold <= 100))
      throw createArgumentError(`${option}.threshold`, threshold, "5 to 100, in percent");
  }
  return table;
}

function checkTokens(option: string, value: number | undefined): void {
  if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1))
    throw createArgumentError(option, value, "a whole number of tokens");
}

function isMatch(key: string, name: string): boolean {
  return key.endsWith("*") ? name.startsWith(key.slice(0, -1)) : name === key;
}

function rankKey(key: string): number {
  return key.endsWith("*") ? key.length : Number.POSITIVE_INFINITY;
}
