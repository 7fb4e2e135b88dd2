import { z } from "zod";
import { BUDGET_PERIODS, BUDGET_UNITS, PERSON_ROLES } from "../../../kernel/faces/people.ts";
import { about, defineSchema } from "../core/named-schema.ts";
import { timeSchema } from "./common-schemas.ts";

export const personNameSchema = about(z.string().min(1).max(64), "Name of the person.");
export const roleSchema = about(
  z.enum(PERSON_ROLES),
  "`member`: own conversations and memories; `admin`: everything, people and budgets.",
);
const namesSchema = z.array(z.string().min(1).max(200)).max(200);
export const allowedModelsSchema = about(
  namesSchema.nullable(),
  "Models that the person may use: names, or prefixes that end in *; null allows all.",
);
export const allowedUpstreamsSchema = about(
  namesSchema.nullable(),
  "Upstreams that the person may use, by name; null allows all.",
);

export const budgetRuleSchema = defineSchema(
  "BudgetRule",
  z.strictObject({
    person: about(personNameSchema.optional(), "Absent: all people together."),
    project: about(z.string().min(1).max(500).optional(), "Only requests of this project."),
    model: about(z.string().min(1).max(200).optional(), "Only this model; a prefix if it ends in *."),
    amount: z.number().min(0),
    unit: z.enum(BUDGET_UNITS),
    period: about(z.enum(BUDGET_PERIODS), "Days, weeks and months are in UTC; a minute is a rate limit."),
  }),
  "The most that may be used in a period.",
);

export const budgetSchema = defineSchema(
  "Budget",
  z.object({
    id: z.string(),
    person: z.string().nullable(),
    project: z.string().nullable(),
    model: z.string().nullable(),
    amount: z.number(),
    unit: z.enum(BUDGET_UNITS),
    period: z.enum(BUDGET_PERIODS),
    spent: about(z.number(), "Used in the current period."),
    reserved: about(z.number(), "Estimates of requests in flight."),
    resetsAt: about(z.number().int().nullable(), "When the period ends; null if it never does."),
  }),
  "A budget with its use in the current period.",
);

export const personSchema = defineSchema(
  "Person",
  z.object({
    name: z.string(),
    role: roleSchema,
    createdAt: timeSchema,
    models: allowedModelsSchema,
    upstreams: allowedUpstreamsSchema,
    tokens: z.array(
      z.object({
        id: about(z.string(), "First digits of the token's digest; not secret."),
        createdAt: timeSchema,
        expiresAt: z.number().int().nullable(),
        revokedAt: z.number().int().nullable(),
        isValid: z.boolean(),
      }),
    ),
    budgets: z.array(budgetSchema),
  }),
  "A person who may use the gateway.",
);

export const newTokenSchema = defineSchema(
  "NewToken",
  z.object({
    person: personSchema,
    token: about(z.string(), "The secret; it is shown only now and stored nowhere."),
  }),
);

export const auditEntrySchema = defineSchema(
  "AuditEntry",
  z.object({
    seq: z.number().int(),
    at: timeSchema,
    actor: about(z.string(), "Who acted: @ and a name, local, or cli: and a user of the operating system."),
    act: z.string(),
    target: z.string(),
    details: z.record(z.string(), z.unknown()),
    previous: about(z.string(), "Digest of the entry before; empty for the first."),
    digest: z.string(),
  }),
  "An administrative act, chained to the one before.",
);

const digestSchema = z.string().length(64);

export const erasedCountsSchema = defineSchema(
  "ErasedCounts",
  z.object({
    sessions: z.number().int(),
    entries: z.number().int(),
    memories: z.number().int(),
    tasks: z.number().int(),
    blobs: about(z.number().int(), "In a preview, blobs that others refer to as well are counted too."),
    tokens: z.number().int(),
    budgets: z.number().int(),
  }),
  "Everything of a person that an erasure removes.",
);

export const certificateSchema = defineSchema(
  "ErasureCertificate",
  z.object({
    format: z.literal("longhaul erasure certificate"),
    version: z.literal(1),
    person: z.string(),
    by: z.string(),
    startedAt: timeSchema,
    finishedAt: timeSchema,
    removed: erasedCountsSchema,
    sessions: z.array(
      z.object({
        id: about(digestSchema, "SHA-256 of the id."),
        entries: z.number().int(),
        firstAt: z.number().int(),
        lastAt: z.number().int(),
        digest: about(digestSchema, "SHA-256 over all entries."),
      }),
    ),
    blobs: about(z.array(digestSchema), "Blobs that only this person's conversations referred to."),
    sharedBlobs: about(z.number().int(), "Blobs of others too, which stay."),
    scrubbed: about(
      z.boolean(),
      "False while bytes of the content are left in the files of the database; longhaul gc --vacuum rewrites them.",
    ),
    digest: about(digestSchema, "SHA-256 over all other fields; the audit log has it too."),
  }),
  "A record of the erasure of a person, without the erased content; `longhaul forget --verify` checks it.",
);
