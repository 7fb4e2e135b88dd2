import { z } from "zod";
import type { BudgetRule, BudgetStatus, Person } from "../../../kernel/faces/people.ts";
import type { Kernel } from "../../../kernel/index.ts";
import { buildCertificateName, formatCertificate } from "../../erasing/erasure-certificate.ts";
import { isAdminCaller, requireAdmin } from "../core/api-caller.ts";
import { isConfirmed } from "../core/confirmation.ts";
import { about } from "../core/named-schema.ts";
import { type ApiRoute, defineRoute } from "../core/route.ts";
import { confirmSchema, limitQuery } from "../schemas/common-schemas.ts";
import {
  allowedModelsSchema,
  allowedUpstreamsSchema,
  auditEntrySchema,
  budgetRuleSchema,
  budgetSchema,
  certificateSchema,
  erasedCountsSchema,
  newTokenSchema,
  personNameSchema,
  personSchema,
  roleSchema,
} from "../schemas/people-schemas.ts";
import { queryNumber } from "../schemas/query-values.ts";

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
      ...(role !== undefined && { role }),
      ...(models !== undefined && { models }),
      ...(upstreams !== undefined && { upstreams }),
      ...(expiresAt !== undefined && { expiresAt }),
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
      ...(role !== undefined && { role }),
      ...(models !== undefined && { models }),
      ...(upstreams !== undefined && { upstreams }),
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
    errors: ["FORBIDDEN", "PERSON_NOT_FOUND"],
  },
  async ({ services: { kernel, signIn }, caller, params, body: { graceMs, expiresAt } }) => {
    const isOwn = caller.name === params.person && !isAdminCaller(caller);
    if (!isOwn) requireAdmin(caller);
    const end = isOwn
      ? await limitOwnExpiry(kernel, params.person, expiresAt, signIn.title !== undefined)
      : expiresAt;
    const { person, secret } = await kernel.team.rotate(params.person, {
      by: caller.id,
      ...(graceMs !== undefined && { graceMs }),
      ...(end !== undefined && { expiresAt: end }),
    });
    return { person: await describePerson(kernel, person), token: secret };
  },
);

/** A token that people who sign in at a provider make for their agents ends after this time at the latest. */
const AGENT_TOKEN_MS = 90 * 86_400_000;

/** The end of a token that a person makes: not after the ends of those that an admin gave. Undefined for never. */
async function limitOwnExpiry(
  kernel: Kernel,
  name: string,
  wanted: number | undefined,
  hasProvider: boolean,
): Promise<number | undefined> {
  const now = Date.now();
  const valid = (await kernel.team.tokens(name)).filter(
    ({ revokedAt, expiresAt = Number.POSITIVE_INFINITY }) => revokedAt === undefined && expiresAt > now,
  );
  if (valid.some(({ expiresAt }) => expiresAt === undefined)) return wanted;
  const last = Math.max(
    ...valid.map(({ expiresAt = 0 }) => expiresAt),
    hasProvider ? now + AGENT_TOKEN_MS : 0,
  );
  return Math.min(wanted ?? last, last);
}

const revokeTokens = defineRoute(
  {
    id: "revokeTokens",
    method: "DELETE",
    path: "/people/{person}/token",
    tag,
    summary: "End all tokens of a person at once; for admins",
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
  return {
    ...rest,
    ...(person !== undefined && { person }),
    ...(project !== undefined && { project }),
    ...(model !== undefined && { model }),
  };
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
