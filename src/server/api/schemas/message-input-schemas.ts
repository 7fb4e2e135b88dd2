import { z } from "zod";
import { SESSION_FORMATS } from "../core/message-formats.ts";
import { about, defineSchema } from "../core/named-schema.ts";
import { metaSchema } from "./common-schemas.ts";
import { ROLE_NAMES } from "./entry-schemas.ts";

const textInput = z.strictObject({ type: z.literal("text"), text: z.string() });
const dataInput = z.strictObject({
  type: z.literal("data"),
  data: about(z.string(), "Base64, or a data URL."),
  mime: z.string().optional(),
  name: z.string().optional(),
});
const rawInput = z.strictObject({ type: z.literal("raw"), format: z.string(), value: z.unknown() });

export const messageInputSchema = defineSchema(
  "MessageInput",
  z.strictObject({
    role: z.enum(ROLE_NAMES),
    text: about(z.string().optional(), "Short for one text part."),
    parts: z
      .array(
        z.discriminatedUnion("type", [
          textInput,
          dataInput,
          rawInput,
          z.strictObject({ type: z.literal("reasoning"), text: z.string(), opaque: z.unknown().optional() }),
          z.strictObject({
            type: z.literal("tool-call"),
            callId: z.string(),
            name: z.string(),
            input: z.unknown(),
          }),
          z.strictObject({
            type: z.literal("tool-result"),
            callId: z.string(),
            name: z.string().optional(),
            isError: z.boolean().optional(),
            output: z.union([
              z.string(),
              z.array(z.discriminatedUnion("type", [textInput, dataInput, rawInput])),
            ]),
          }),
        ]),
      )
      .optional(),
    model: z.string().optional(),
    meta: metaSchema.optional(),
  }),
  "A message to append.",
);

export const formatSchema = about(
  z.enum(SESSION_FORMATS).default("longhaul"),
  "Format of the messages: ours, or that of a provider's API.",
);

/** A message of a provider's API; only its own decoder knows its fields. */
export const foreignMessageSchema = z.record(z.string(), z.unknown());
