import { z } from "zod";
import { about, defineSchema } from "../core/named-schema.ts";
import { queryNumber } from "./query-values.ts";

const MAX_ID = 512;

export const timeSchema = about(z.number().int(), "Milliseconds since 1970.");
export const seqSchema = about(
  z.number().int().min(1),
  "Position in the log of a session, from 1 without gaps.",
);
export const metaSchema = about(
  z.record(z.string(), z.unknown()),
  "Facts for the caller's use, stored verbatim.",
);
/** Meta in a request: the gateway recognizes conversations by its own field. */
export const metaInputSchema = about(
  z
    .record(z.string(), z.unknown())
    .refine((meta) => !Object.hasOwn(meta, "gateway"), "the field gateway is reserved"),
  "Facts for the caller's use, stored verbatim.",
);
export const sessionIdSchema = about(
  z.string().min(1).max(MAX_ID),
  "Id of a session. With a token, the prefix of the person may be left out.",
);
/** A seq, or an id such as `ticket-4711#12`. */
export const entryRefSchema = about(
  z.union([z.number().int().min(1), z.string().min(1).max(MAX_ID)]),
  "An entry: its seq in this session, or its id, `<session>#<seq>`.",
);
/** Without a matching preview, a destructive call changes nothing. */
export const confirmSchema = about(
  z.string().min(1).max(128),
  "The `confirm` of a preview. Without it the call is the preview, and changes nothing.",
);

export const sessionParams = z.strictObject({ session: sessionIdSchema });
export const entryParams = z.strictObject({
  session: sessionIdSchema,
  entry: about(z.string().min(1).max(MAX_ID), "Seq of the entry in this session, or its id."),
});

export const errorSchema = defineSchema(
  "Error",
  z.object({
    error: z.object({
      code: about(z.string(), "Identifies the kind of failure, for programs."),
      message: about(z.string(), "The failure with the offending value, for people."),
      remedy: about(z.string(), "What to do about it."),
      details: about(z.record(z.string(), z.unknown()), "Facts for programs; they depend on the code."),
    }),
  }),
  "Every error has this form.",
);

export const freedSchema = defineSchema(
  "Freed",
  z.object({
    sessions: z.number().int(),
    entries: z.number().int(),
    payloadBytes: z.number().int(),
    blobs: z.number().int(),
    blobBytes: z.number().int(),
    scrubbed: about(z.boolean(), "False while bytes of the content are left in the files of the database."),
  }),
  "Content that was erased from disk.",
);

/** Number of rows of a page. */
export function limitQuery(usual: number, max: number) {
  return about(
    queryNumber(1, max).default(usual),
    `Maximum number of rows; default ${usual}, at most ${max}.`,
  );
}
