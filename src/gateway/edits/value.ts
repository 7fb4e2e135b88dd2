/** Reports the path of an invalid value, and the expected value. */
export class Unreadable extends Error {}

/** A value of a request with its path, for error messages. Null counts as missing. */
export interface Value {
  readonly path: string;
  readonly isObject: boolean;
  readonly isList: boolean;
  is(word: string): boolean;
  /** Returns itself; throws `Unreadable` if it is not an object. */
  object(): Value;
  /** A field of an object. */
  field(name: string): Value;
  /** The elements of a field; empty if it is missing. */
  list<T>(name: string, read: (element: Value) => T): readonly T[];
  text(): string;
  optionalText(): string | undefined;
  texts(): readonly string[] | undefined;
  flag(expected?: string): boolean | undefined;
  /** Reads `{ type, value }`, if present. */
  measure(types: readonly string[], least?: number): Measure | undefined;
}

/** A typed number, such as a token count. */
export interface Measure {
  readonly type: string;
  readonly value: number;
}

/** A value at a path of the request. */
export function valueAt(path: string, given: unknown): Value {
  const isMissing = given === undefined || given === null;
  const isList = Array.isArray(given);
  const isObject = typeof given === "object" && given !== null && !isList;
  const refuse = (expected: string): never => {
    throw new Unreadable(`${path}: expected ${expected}, got ${shown(given)}`);
  };
  const value: Value = {
    path,
    isObject,
    isList,
    is: (word) => given === word,
    object: () => (isObject ? value : refuse("an object")),
    field: (name) =>
      valueAt(`${path}.${name}`, isObject ? (given as Record<string, unknown>)[name] : undefined),
    list(name, read) {
      const own = (given as Record<string, unknown>)[name];
      if (own === undefined || own === null) return [];
      if (!Array.isArray(own)) throw new Unreadable(`${path}.${name}: expected a list, got ${shown(own)}`);
      return own.map((element, index) => read(valueAt(`${path}.${name}.${index}`, element)));
    },
    text: () => (typeof given === "string" ? given : refuse("a text")),
    optionalText: () => (isMissing ? undefined : value.text()),
    texts() {
      if (isMissing) return undefined;
      if (!isList || !given.every((one) => typeof one === "string")) return refuse("a list of names");
      return given;
    },
    flag(expected = "true or false") {
      if (isMissing) return undefined;
      return typeof given === "boolean" ? given : refuse(expected);
    },
    measure(types, least = 0) {
      if (isMissing) return undefined;
      const type = value.object().field("type");
      const known = types.find((one) => type.is(one));
      const wanted = `{ type: ${types.map((one) => JSON.stringify(one)).join(" or ")}, value: a whole number from ${least} on }`;
      const { value: number } = given as { readonly value?: unknown };
      if (known === undefined || !Number.isSafeInteger(number) || (number as number) < least)
        return refuse(wanted);
      return { type: known, value: number as number };
    },
  };
  return value;
}

const MOST_SHOWN = 80;

function shown(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value).slice(0, MOST_SHOWN).toWellFormed();
}
