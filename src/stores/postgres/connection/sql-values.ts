/**
 * PostgreSQL's text has no null character. One is stored as two of a private character, and that character as itself
 * and its successor, so that every text comes back as it was. Other texts are stored as they are.
 */
const MARK = "\uE000";

function toSqlText(text: string): string {
  if (!text.includes("\0") && !text.includes(MARK)) return text;
  return text.replaceAll(MARK, `${MARK}\uE001`).replaceAll("\0", MARK + MARK);
}

function fromSqlText(text: string): string {
  if (!text.includes(MARK)) return text;
  return text.replace(/\uE000([\uE000\uE001])/g, (_, next) => (next === MARK ? "\0" : MARK));
}

/** A value of a statement's parameter. */
export type SqlValue =
  | string
  | number
  | boolean
  | Uint8Array
  | null
  | readonly (string | number | boolean | Uint8Array | null)[];

/** A row as PostgreSQL returns it: whole numbers as numbers, bytea as bytes. */
export type SqlRow = Record<string, unknown>;

const parseBytes = (text: string) => Buffer.from(text.slice(2), "hex");
const parseNumber = (text: string) => Number(text);

/** Parsers by the number of the type; all numbers that we store are exact in JavaScript. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === "t", // bool
  17: parseBytes, // bytea
  20: parseNumber, // int8
  21: parseNumber, // int2
  23: parseNumber, // int4
  700: parseNumber, // float4
  701: parseNumber, // float8
  25: fromSqlText, // text
  1043: fromSqlText, // varchar
};

/** The type parsers of our connections, in the form that pg asks for; other connections of the process keep theirs. */
export const SQL_TYPES = {
  getTypeParser: (type: number) => PARSERS[type] ?? ((text: string) => text),
};

/** A value in the form that pg sends. */
export function toSqlValue(value: SqlValue): unknown {
  if (typeof value === "string") return toSqlText(value);
  if (Array.isArray(value)) return value.map((item) => (typeof item === "string" ? toSqlText(item) : item));
  return value;
}
