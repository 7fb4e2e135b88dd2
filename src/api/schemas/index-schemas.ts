import { z } from "zod";
import { about, defineSchema } from "../core/named-schema.ts";
import { timeSchema } from "./common-schemas.ts";

export const indexStateSchema = defineSchema(
  "IndexState",
  z.object({
    sources: z.number().int(),
    chunks: z.number().int(),
    entries: about(z.number().int(), "Entries of all conversations."),
    unindexed: about(z.number().int(), "Entries that recall does not find yet."),
    unembedded: about(
      z.number().int(),
      "Chunks without a vector, about; while there are many, recall goes by words alone.",
    ),
    hasVectors: about(z.boolean(), "False without an embedder: recall goes by words alone."),
  }),
  "The size of the index, and the work that it lacks.",
);

export const unindexedSchema = defineSchema(
  "UnindexedSession",
  z.object({
    session: z.string(),
    entries: z.number().int(),
    indexed: about(z.number().int(), "Last indexed seq; 0 if the conversation is not in the index."),
  }),
  "A conversation with entries that recall does not find yet.",
);

export const sourceSchema = defineSchema(
  "IndexSource",
  z.object({
    kind: z.enum(["session", "file"]),
    name: about(z.string(), "Id of the conversation, or path of the file."),
    cursor: about(z.number().int(), "Last indexed seq of a conversation; 1 for a file."),
    chunks: z.number().int(),
    root: about(z.string().optional(), "The folder whose indexing found the file."),
    sizeBytes: z.number().optional(),
    modifiedMs: timeSchema.optional(),
    number: about(z.number().int(), "Value of `after` for the sources behind this one."),
  }),
  "A conversation or a file in the index.",
);
