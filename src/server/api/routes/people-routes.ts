import { z } from "zod";
import {
  BUDGET_PERIODS,
  BUDGET_UNITS,
  type BudgetRule,
  type BudgetStatus,
  PERSON_ROLES,
  type Person,
} from "../../../kernel/faces/people.ts";
import type { Kernel } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { buildCertificateName, formatCertificate } from "../../erasing/erasure-certificate.ts";
import { isAdminCaller, requireAdmin } from "../core/api-caller.ts";
import { isConfirmed } from "../core/confirmation.ts";
import { about, defineSchema } from "../core/named-schema.ts";
import { type ApiRoute, defineRoute } from "../core/route.ts";
import { confirmSchema, limitQuery, timeSchema } from "../schemas/common-schemas.ts";
import { queryNumber } from "../schemas/query-values.ts";

const personNameSchema = about(z.string().min(1).max(64), "Name of the person.");
const roleSchema = about(
  z.enum(PERSON_ROLES),
  "`member`: own conversations and memories; `admin`: everything, people and budgets.",
);
const namesSchema = z.array(z.string().min(1).max(200)).max(200);
const allowedModelsSchema = about(
  namesSchema.nullable(),
  "Models that the person may use: names, or prefixes that end in *; null allows all.",
);
const allowedUpstreamsSchema = about(
  namesSchema.nullable(),
  "Upstreams that the person may use, by name; null allows all.",
);

const budgetRuleSchema = defineSchema(
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

const budgetSchema = defineSchema(
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

const personSchema = defineSchema(
  "Person",
  z.object({
    name: z.string(),
    role: roleSchema,
    createdAt: timeSchema,
    models: allowedModelsSchema,
    upstreams: allowedUpstreamsSchema,
    blockedAt: about(
      timeSchema.nullable(),
      "When an admin ended the access; null unless signing in is blocked.",
    ),
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

const newTokenSchema = defineSchema(
  "NewToken",
  z.object({
    person: personSchema,
    token: about(z.string(), "The secret; it is shown only now and stored nowhere."),
  }),
);

const auditEntrySchema = defineSchema(
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

const erasedCountsSchema = defineSchema(
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

const certificateSchema = defineSchema(
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

const tag = "People";
const personParams = z.strictObject({ person: personNameSchema });
const expirySchema = about(z.number().int().min(0).optional(), "When the token ends; absent: never.");

const listPeople = defineRoute(
  {
    id: "listPeople",
    method: "GET",
    path: "/people",
    tag,
    summary: "List people with their tokens and budgets",
    description: "Members see themselves only.",
    reply: z.object({
      me: z.object({ name: about(z.string().nullable(), "Null without a token."), role: roleSchema }),
      people: z.array(personSchema),
      shared: about(z.array(budgetSchema), "Budgets that count all people together; for admins only."),
    }),
  },
  async ({ services: { kernel }, caller }) => {
    const { name, role } = caller;
    const isAdmin = isAdminCaller(caller);
    const all = await kernel.team.people();
    const people = isAdmin ? all : all.filter((person) => person.name === name);
    const budgets = isAdmin ? await kernel.team.budgets("") : [];
    return {
      me: { name: name ?? null, role },
      people: await Promise.all(people.map((person) => describePerson(kernel, person))),
      shared: budgets.filter(({ person }) => person === undefined).map(describeBudgetStatus),
    };
  },
);

const addPerson = defineRoute(
  {
    id: "addPerson",
    method: "POST",
    path: "/people",
    tag,
    summary: "Add a person and make a token; for admins",
    body: z.strictObject({
      name: personNameSchema,
      role: roleSchema.optional(),
      models: allowedModelsSchema.optional(),
      upstreams: allowedUpstreamsSchema.optional(),
      expiresAt: expirySchema,
      budgets: z
        .array(budgetRuleSchema.omit({ person: true }))
        .max(50)
        .default([]),
    }),
    reply: newTokenSchema,
    status: 201,
    errors: ["FORBIDDEN", "PERSON_EXISTS", "ARGUMENT_INVALID"],
  },
  async ({ services: { kernel }, caller, body }) => {
    requireAdmin(caller);
    const { name, budgets, role, models, upstreams, expiresAt } = body;
    const by = caller.id;
    const { person, secret } = await kernel.team.add(name, {
      by,
      ...dropUndefined({ role, models, upstreams, expiresAt }),
    });
    for (const rule of budgets) await kernel.team.setBudget({ ...toRule(rule), person: name }, { by });
    return { person: await describePerson(kernel, person), token: secret };
  },
);

const changePerson = defineRoute(
  {
    id: "changePerson",
    method: "PATCH",
    path: "/people/{person}",
    tag,
    summary: "Change the role, models and upstreams of a person; for admins",
    params: personParams,
    body: z.strictObject({
      role: roleSchema.optional(),
      models: allowedModelsSchema.optional(),
      upstreams: allowedUpstreamsSchema.optional(),
    }),
    reply: personSchema,
    errors: ["FORBIDDEN", "PERSON_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params, body }) => {
    requireAdmin(caller);
    const { role, models, upstreams } = body;
    const person = await kernel.team.change(params.person, {
      by: caller.id,
      ...dropUndefined({ role, models, upstreams }),
    });
    return describePerson(kernel, person);
  },
);

const rotateToken = defineRoute(
  {
    id: "rotateToken",
    method: "POST",
    path: "/people/{person}/token",
    tag,
    summary:
      "Make a new token; the former ones end at once, or after a grace time. For admins, and for oneself",
    params: personParams,
    body: z.strictObject({
      graceMs: about(z.number().int().min(0).optional(), "How long the former tokens stay valid; default 0."),
      expiresAt: expirySchema,
    }),
    reply: newTokenSchema,
    status: 201,
    errors: ["FORBIDDEN", "PERSON_NOT_FOUND", "PERSON_BLOCKED"],
  },
  async ({ services: { kernel }, caller, params, body: { graceMs, expiresAt } }) => {
    // An admin who signed in has the rights of an admin for as long as the sign-in allows, not for ever.
    const { personToken } = caller;
    const isOwn = caller.name === params.person && personToken !== undefined;
    if (!isOwn) requireAdmin(caller);
    const { person, secret } = await kernel.team.rotate(params.person, {
      by: caller.id,
      ...dropUndefined({ graceMs, expiresAt, from: isOwn ? personToken : undefined }),
    });
    return { person: await describePerson(kernel, person), token: secret };
  },
);

const revokeTokens = defineRoute(
  {
    id: "revokeTokens",
    method: "DELETE",
    path: "/people/{person}/token",
    tag,
    summary:
      "End all tokens of a person at once, who cannot sign in until an admin makes a new token; for admins",
    params: personParams,
    reply: personSchema,
    errors: ["FORBIDDEN", "PERSON_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params }) => {
    requireAdmin(caller);
    await kernel.team.revoke(params.person, { by: caller.id });
    return describeNamed(kernel, params.person);
  },
);

async function describeNamed(kernel: Kernel, name: string) {
  const person = (await kernel.team.find(name)) ?? { name, role: "member" as const, createdAt: 0 };
  return describePerson(kernel, person);
}

const setBudget = defineRoute(
  {
    id: "setBudget",
    method: "POST",
    path: "/budgets",
    tag,
    summary: "Set a budget; one with the same scope, unit and period gets the new amount. For admins",
    body: budgetRuleSchema,
    reply: budgetSchema,
    errors: ["FORBIDDEN", "PERSON_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, body }) => {
    requireAdmin(caller);
    const { id } = await kernel.team.setBudget(toRule(body), { by: caller.id });
    const [status] = (await kernel.team.budgets(body.person ?? "")).filter((budget) => budget.id === id);
    return describeBudgetStatus(status ?? { ...toRule(body), id, spent: 0, reserved: 0 });
  },
);

const removeBudget = defineRoute(
  {
    id: "removeBudget",
    method: "DELETE",
    path: "/budgets/{budget}",
    tag,
    summary: "Remove a budget; for admins",
    params: z.strictObject({ budget: about(z.string().min(1).max(64), "Id of the budget.") }),
    reply: z.object({ isRemoved: z.boolean() }),
    errors: ["FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, params }) => {
    requireAdmin(caller);
    return { isRemoved: await kernel.team.removeBudget(params.budget, { by: caller.id }) };
  },
);

function toRule({ person, project, model, ...rest }: z.output<typeof budgetRuleSchema>): BudgetRule {
  return { ...rest, ...dropUndefined({ person, project, model }) };
}

const listAudit = defineRoute(
  {
    id: "listAudit",
    method: "GET",
    path: "/audit",
    tag,
    summary: "List administrative acts, oldest first; for admins",
    query: z.strictObject({
      after: about(queryNumber(0).default(0), "Only entries after this seq."),
      limit: limitQuery(100, 1_000),
    }),
    reply: z.object({
      entries: z.array(auditEntrySchema),
      after: about(z.number().int().nullable(), "Value of `after` for the next page; null on the last one."),
    }),
    errors: ["FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, query: { after, limit } }) => {
    requireAdmin(caller);
    const entries = await kernel.team.audit({ after, limit });
    const last = entries.at(-1)?.seq ?? null;
    return { entries, after: entries.length < limit ? null : last };
  },
);

export const PEOPLE_ROUTES = [
  listPeople,
  addPerson,
  changePerson,
  rotateToken,
  revokeTokens,
  setBudget,
  removeBudget,
  listAudit,
] as const satisfies readonly ApiRoute[];

const ID_DIGITS = 12;

/** A person with tokens and own budgets, in the form of the API. */
async function describePerson({ team }: Kernel, person: Person) {
  const now = Date.now();
  const tokens = await team.tokens(person.name);
  const budgets = (await team.budgets(person.name)).filter((budget) => budget.person === person.name);
  return {
    ...person,
    models: person.models ?? null,
    upstreams: person.upstreams ?? null,
    blockedAt: person.blockedAt ?? null,
    tokens: tokens.map(({ digest, createdAt, expiresAt, revokedAt }) => ({
      id: digest.slice(0, ID_DIGITS),
      createdAt,
      expiresAt: expiresAt ?? null,
      revokedAt: revokedAt ?? null,
      isValid: revokedAt === undefined && (expiresAt === undefined || expiresAt > now),
    })),
    budgets: budgets.map(describeBudgetStatus),
  };
}

/** A budget in the form of the API. */
function describeBudgetStatus(budget: BudgetStatus) {
  const { person = null, project = null, model = null, resetsAt = null } = budget;
  return { ...budget, person, project, model, resetsAt };
}

const erasePerson = defineRoute(
  {
    id: "erasePerson",
    method: "POST",
    path: "/people/{person}/erase",
    tag: "People",
    summary: "Erase a person with everything that is stored of them, after a preview; for admins",
    description:
      "The first call is a preview and returns `confirm`; the second call, with it, ends the tokens, erases conversations, memories, tasks and blobs from disk, removes tokens and budgets, and returns the certificate. It goes on if the caller leaves; the same call again returns the same certificate. There is no undo.",
    params: z.strictObject({ person: personNameSchema }),
    body: z.strictObject({ confirm: confirmSchema.optional() }),
    reply: z.object({
      person: z.string(),
      isErased: z.boolean(),
      counts: erasedCountsSchema,
      confirm: z.string(),
      certificate: about(certificateSchema.nullable(), "Null in a preview."),
      text: about(z.string().nullable(), "The certificate for people to read."),
      fileName: about(z.string().nullable(), "A name for the certificate's file."),
    }),
    errors: ["FORBIDDEN", "PERSON_NOT_FOUND", "PREVIEW_CHANGED", "TASK_CONFLICT"],
  },
  async ({ services: { erasures }, caller, params: { person }, body }) => {
    requireAdmin(caller);
    const begun = body.confirm === undefined ? undefined : erasures.findCertificate(person, body.confirm);
    if (!begun) {
      const { confirm, counts } = await erasures.preview(person);
      if (!isConfirmed(confirm, body.confirm))
        return { person, isErased: false, counts, confirm, certificate: null, text: null, fileName: null };
    }
    const confirm = body.confirm ?? "";
    const certificate = await (begun ?? erasures.erase(person, confirm, { by: caller.id }));
    return {
      person,
      isErased: true,
      counts: certificate.removed,
      confirm,
      certificate,
      text: formatCertificate(certificate),
      fileName: buildCertificateName(certificate),
    };
  },
);

export const ERASURE_ROUTES = [erasePerson] as const satisfies readonly ApiRoute[];
