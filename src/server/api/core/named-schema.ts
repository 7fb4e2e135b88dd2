import { z } from "zod";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";

/** Texts about schemas: the name under which the document lists a schema, and its description. */
interface SchemaNote {
  readonly id?: string;
  readonly description?: string;
}

/** The notes of all schemas; not zod's global registry, which belongs to the program that uses the library. */
export const schemaNotes = z.registry<SchemaNote>();

/** Gives a schema a name in the document, so that it is listed once. */
export function defineSchema<Schema extends z.ZodType>(
  id: string,
  schema: Schema,
  description?: string,
): Schema {
  schemaNotes.add(schema, { id, ...dropUndefined({ description }) });
  return schema;
}

/** Describes a field. */
export function about<Schema extends z.ZodType>(schema: Schema, description: string): Schema {
  const copy = schema.clone() as Schema;
  schemaNotes.add(copy, { description });
  return copy;
}
