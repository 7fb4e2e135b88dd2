import { fromSqlText, toSqlText } from "./sql-text.ts";

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
