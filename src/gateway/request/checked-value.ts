/** Reports the path of an invalid value, and the expected value. */
export class InvalidValueError extends Error {}

/** A value of a request with its path, for error messages. Null counts as missing. */
export interface CheckedValue {
  readonly path: string;
  readonly isObject: boolean;
  readonly isList: boolean;
  is(word: string): boolean;
  /** Returns itself; throws `Unreadable` if it is not an object. */
  object(): CheckedValue;
  /** A field of an object. */
  field(name: string): CheckedValue;
  /** The elements of a field; empty if it is missing. */
  list<T>(name: string, read: (element: CheckedValue) => T): readonly T[];
  text(): string;
  optionalText(): string | undefined;
  texts(): readonly string[] | undefined;
  flag(expected?: string): boolean | undefined;
  /** Reads `{ type, value }`, if present. */
  measure(types: readonly string[], least?: number): TypedNumber | undefined;
}

/** A typed number, such as a token count. */
interface TypedNumber {
  readonly type: string;
  readonly value: number;
}

/** A value at a path of the request. */
export function createCheckedValue(path: string, given: unknown): CheckedValue {
  const isMissing = given === undefined || given === null;
  const isList = Array.isArray(given);
  const isObject = typeof given === "object" && given !== null && !isList;
  const refuse = (expected: string): never => {
    throw new InvalidValueError(`${path}: expected ${expected}, got ${formatValue(given)}`);
  };
  const value: CheckedValue = {
    path,
    isObject,
    isList,
    is: (word) => given === word,
    object: () => (isObject ? value : refuse("an object")),
    field: (name) =>
      createCheckedValue(`${path}.${name}`, isObject ? (given as Record<string, unknown>)[name] : undefined),
    list(name, read) {
      const own = (given as Record<string, unknown>)[name];
      if (own === undefined || own === null) return [];
      if (!Array.isArray(own))
        throw new InvalidValueError(`${path}.${name}: expected a list, got ${formatValue(own)}`);
      return own.map((element, index) => read(createCheckedValue(`${path}.${name}.${index}`, element)));
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

const MAX_SHOWN_CHARACTERS = 80;

function formatValue(value: unknown): string {
  return value === undefined
    ? "nothing"
    : JSON.stringify(value).slice(0, MAX_SHOWN_CHARACTERS).toWellFormed();
}
