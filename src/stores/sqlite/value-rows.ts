import type { SQLInputValue, SQLOutputValue } from "node:sqlite";
import type { Database } from "./database.ts";

/** The values of a row in the order of its columns. */
export type ValueRow = readonly SQLOutputValue[];

/** A statement whose rows are lists of values. */
interface ValueStatement {
  get(...parameters: SQLInputValue[]): ValueRow | undefined;
  all(...parameters: SQLInputValue[]): readonly ValueRow[];
}

/**
 * Prepares a statement for rows that are read by the thousand: a list takes a third less time than an object. Node
 * before 24 has no lists; its objects have the columns in their order.
 */
export function prepareValues(db: Database, sql: string): ValueStatement {
  const statement = db.prepare(sql);
  if (typeof statement.setReturnArrays === "function") {
    statement.setReturnArrays(true);
    return statement as unknown as ValueStatement;
  }
  return {
    get: (...parameters) => {
      const row = statement.get(...parameters);
      return row && Object.values(row);
    },
    all: (...parameters) => statement.all(...parameters).map((row) => Object.values(row)),
  };
}
