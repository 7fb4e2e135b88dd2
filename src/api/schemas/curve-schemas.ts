import { z } from "zod";
import { about, defineSchema } from "../core/named-schema.ts";
import { seqSchema, timeSchema } from "./common-schemas.ts";
import { comparisonSchema } from "./receipt-schemas.ts";

const curveEditSchema = defineSchema(
  "CurveEdit",
  z.object({
    overlay: z.string(),
    seq: seqSchema,
    at: timeSchema,
    point: about(
      z.number().int(),
      "Index of the first point after the edit; the number of points if there is none yet.",
    ),
    type: z.enum(["replace", "hide", "summarize", "plan", "revert"]),
    author: z.string(),
    reason: z.string(),
    isHolding: about(z.boolean(), "True while the overlay is in effect."),
    tokens: about(comparisonSchema.nullable(), "Null if nobody measured them."),
    thisCall: about(
      comparisonSchema.nullable(),
      "US dollars for the prompt of the call; null without prices.",
    ),
    nextCalls: about(comparisonSchema.nullable(), "US dollars for the prompt of each following call."),
    breakEvenCalls: about(
      z.number().nullable(),
      "Calls until it has paid for itself; null if never or unknown.",
    ),
    leftEntries: about(z.number().int().nullable(), "Messages that left the window; null if unknown."),
  }),
  "An edit of the window on its curve.",
);

export const curveSchema = defineSchema(
  "Curve",
  z.object({
    session: z.string(),
    requests: about(z.number().int(), "Number of requests with reported usage."),
    stretch: about(z.number().int(), "Requests that one point stands for; it shows the largest of them."),
    seqs: about(z.array(z.number().int()), "Seqs of the reports, ascending; the lists are parallel."),
    times: z.array(timeSchema),
    tokens: about(z.array(z.number()), "Sizes of the prompts."),
    cacheShares: z.array(z.number().nullable()),
    costs: about(z.array(z.number().nullable()), "US dollars of the requests; null if the price is unknown."),
    edits: about(z.array(curveEditSchema), "Oldest first."),
  }),
  "The size of the window and its cached share over a conversation, with the edits.",
);
