import { z } from "zod";
import { editMemory } from "../../../kernel/faces/memory.ts";
import { LonghaulError, type Memories, type StoredMemory } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { isAdminCaller } from "../core/api-caller.ts";
import { ApiError } from "../core/api-error.ts";
import { computeConfirmation, isConfirmed } from "../core/confirmation.ts";
import { about } from "../core/named-schema.ts";
import { requireRecord } from "../core/own-sessions.ts";
import { type ApiRoute, defineRoute, type RouteCall } from "../core/route.ts";
import { confirmSchema, freedSchema, limitQuery, sessionIdSchema } from "../schemas/common-schemas.ts";
import { AUTHOR_NAMES, memoryEventSchema, memorySchema, TRUST_NAMES } from "../schemas/memory-schemas.ts";
import { queryFlag, queryNumber } from "../schemas/query-values.ts";

const tag = "Memories";
const MAX_TEXT = 100_000;
const dateSchema = z.number().int().min(0).nullable().optional();

const memoryAgentSchema = about(
  z.string().min(1).max(200).optional(),
  "The agent that owns the memories; default: the person's. With a token, only that one.",
);
const memoryParams = z.strictObject({
  memory: about(z.string().min(1).max(512), "Id, as memory:default#3."),
});

const listMemories = defineRoute(
  {
    id: "listMemories",
    method: "GET",
    path: "/memories",
    tag,
    summary: "List memories in their order: newest first, unless they were moved",
    query: z.strictObject({
      agent: memoryAgentSchema,
      limit: limitQuery(50, 1_000),
      before: about(z.string().optional(), "Only memories after this one in the order."),
      trust: about(
        z.enum(TRUST_NAMES).optional(),
        "Lowest trust; default quoted, that is, all except rejected ones.",
      ),
      validAt: about(
        z.union([z.literal("ever"), queryNumber(0)]).optional(),
        "Time at which they hold; default now.",
      ),
      review: about(queryFlag().default(false), "True: only notes of agents that no person has judged."),
    }),
    reply: z.object({
      agent: z.string(),
      memories: z.array(memorySchema),
      before: about(z.string().optional(), "Value of `before` for the next page."),
    }),
    errors: ["FORBIDDEN", "ARGUMENT_INVALID"],
  },
  async (call) => {
    const { agent, limit, before, trust, validAt, review } = call.query;
    const memories = getMemories(call, agent);
    const found = await memories.list({
      limit: limit + 1,
      ...dropUndefined({ before, trust }),
      ...(review ? { isUnreviewed: true, validAt: "ever" as const } : validAt !== undefined && { validAt }),
    });
    const shown = found.slice(0, limit);
    const last = shown.at(-1)?.id;
    return {
      agent: memories.agent,
      memories: await addPinState(memories, shown),
      ...(found.length > limit && last !== undefined && { before: last }),
    };
  },
);

const addMemory = defineRoute(
  {
    id: "addMemory",
    method: "POST",
    path: "/memories",
    tag,
    weight: "stores",
    summary: "Remember a fact",
    body: z.strictObject({
      agent: memoryAgentSchema,
      text: z.string().trim().min(1).max(MAX_TEXT),
      by: about(
        z.enum(AUTHOR_NAMES).default("user"),
        "Who says so: a person, an agent, or text that it quotes.",
      ),
      source: about(sessionIdSchema.optional(), "The conversation in which it was said."),
      from: z.number().int().min(0).optional(),
      until: z.number().int().min(0).optional(),
    }),
    reply: memorySchema,
    status: 201,
    errors: ["MEMORY_REFUSED", "ARGUMENT_INVALID", "FORBIDDEN"],
  },
  async (call) => {
    const { agent, text, by, source, from, until } = call.body;
    const memories = getMemories(call, agent);
    const place =
      source === undefined ? undefined : (await requireRecord(call.services.kernel, call.caller, source)).id;
    const fact = await memories.remember(text, { by, ...dropUndefined({ source: place, from, until }) });
    return describeMemory(memories, fact as StoredMemory);
  },
);

const changeMemory = defineRoute(
  {
    id: "editMemory",
    method: "PATCH",
    path: "/memories/{memory}",
    tag,
    summary: "Change the text or the dates of a memory",
    description: "A new text makes a new memory of the person, with a new id; the old one is forgotten.",
    params: memoryParams,
    body: z.strictObject({
      text: z.string().trim().min(1).max(MAX_TEXT).optional(),
      from: about(dateSchema, "Null removes the date."),
      until: dateSchema,
    }),
    reply: memorySchema,
    errors: ["ENTRY_NOT_FOUND", "ARGUMENT_INVALID"],
  },
  async (call) => {
    const { text, from, until } = call.body;
    const memories = getMemoriesOf(call, call.params.memory);
    const edit = dropUndefined({ text, from, until });
    return describeMemory(memories, await editMemory(memories, call.params.memory, edit));
  },
);

const forgetMemory = defineRoute(
  {
    id: "forgetMemory",
    method: "POST",
    path: "/memories/{memory}/forget",
    tag,
    summary: "Erase a memory and all others with the same value, after a preview",
    params: memoryParams,
    body: z.strictObject({ confirm: confirmSchema.optional() }),
    reply: z.object({
      memory: memorySchema.nullable(),
      memories: about(z.array(memorySchema), "All memories that go; empty once they are gone."),
      isForgotten: z.boolean(),
      confirm: z.string(),
      freed: freedSchema.nullable(),
    }),
    errors: ["ENTRY_NOT_FOUND", "PREVIEW_CHANGED"],
  },
  async (call) => {
    const { memory: id } = call.params;
    const memories = getMemoriesOf(call, id);
    const fact = await memories.get(id);
    if (!fact) throw createMemoryAbsence(id);
    const same: StoredMemory[] = [];
    for (const one of await memories.listSame(id)) same.push((await memories.get(one.id)) ?? one);
    const confirm = computeConfirmation("forget memory", same);
    if (!isConfirmed(confirm, call.body.confirm)) {
      const memory = await describeMemory(memories, fact);
      const all = await addPinState(memories, same);
      return { memory, memories: all, isForgotten: false, confirm, freed: null };
    }
    return { memory: null, memories: [], isForgotten: true, confirm, freed: await memories.forget(id) };
  },
);

const listMemoryEvents = defineRoute(
  {
    id: "listMemoryEvents",
    method: "GET",
    path: "/memories/history",
    tag,
    summary: "List every change to the memories, newest first",
    query: z.strictObject({ agent: memoryAgentSchema, limit: limitQuery(50, 1_000) }),
    reply: z.object({ agent: z.string(), events: z.array(memoryEventSchema) }),
    errors: ["FORBIDDEN"],
  },
  async (call) => {
    const memories = getMemories(call, call.query.agent);
    return { agent: memories.agent, events: await memories.history({ limit: call.query.limit }) };
  },
);

export const MEMORY_ROUTES = [
  listMemories,
  addMemory,
  changeMemory,
  forgetMemory,
  listMemoryEvents,
] as const satisfies readonly ApiRoute[];

const MAX_AGENTS = 200;
const MAX_UNREVIEWED = 100;

const reviewMemory = defineRoute(
  {
    id: "reviewMemory",
    method: "POST",
    path: "/memories/{memory}/review",
    tag,
    summary: "Accept or reject a memory",
    params: memoryParams,
    body: z.strictObject({ decision: z.enum(["accepted", "rejected"]) }),
    reply: memorySchema,
    errors: ["ENTRY_NOT_FOUND"],
  },
  async (call) => {
    const memories = getMemoriesOf(call, call.params.memory);
    return describeMemory(memories, await memories.review(call.params.memory, call.body.decision));
  },
);

const moveMemory = defineRoute(
  {
    id: "moveMemory",
    method: "POST",
    path: "/memories/{memory}/move",
    tag,
    summary: "Move a memory directly above or below another one, or to the top; the first ones are pinned",
    params: memoryParams,
    body: z
      .strictObject({
        above: z.string().min(1).max(512).optional(),
        below: z.string().min(1).max(512).optional(),
      })
      .refine(({ above, below }) => above === undefined || below === undefined, "above or below, not both"),
    reply: memorySchema,
    errors: ["ENTRY_NOT_FOUND", "ARGUMENT_INVALID"],
  },
  async (call) => {
    const { memory: id } = call.params;
    const { above, below } = call.body;
    const memories = getMemoriesOf(call, id);
    const to = above !== undefined ? { above } : below !== undefined ? { below } : ("top" as const);
    return describeMemory(memories, await memories.move(id, to));
  },
);

const listMemoryAgents = defineRoute(
  {
    id: "listMemoryAgents",
    method: "GET",
    path: "/memories/agents",
    tag,
    summary: "List the agents that have memories, with the number that waits for review",
    reply: z.object({
      agents: z.array(
        z.object({
          agent: z.string(),
          unreviewed: about(z.number().int(), `Notes that no person has judged, at most ${MAX_UNREVIEWED}.`),
        }),
      ),
    }),
  },
  async ({ services: { kernel }, caller }) => {
    const prefix = "memory:";
    const sessions = isAdminCaller(caller) ? await kernel.sessions({ prefix, limit: MAX_AGENTS }) : [];
    const names = new Set([caller.memoryAgent, ...sessions.map(({ id }) => id.slice(prefix.length))]);
    const agents: { agent: string; unreviewed: number }[] = [];
    for (const agent of names) {
      const waiting = { isUnreviewed: true, validAt: "ever", limit: MAX_UNREVIEWED } as const;
      agents.push({ agent, unreviewed: (await kernel.memories(agent).list(waiting)).length });
    }
    return { agents };
  },
);

export const MEMORY_ORDER_ROUTES = [
  reviewMemory,
  moveMemory,
  listMemoryAgents,
] as const satisfies readonly ApiRoute[];

/** The memories of the person, or for the local person those of a named agent. */
function getMemories({ services: { kernel }, caller }: RouteCall, agent: string | undefined): Memories {
  if (agent !== undefined && agent !== caller.memoryAgent && !isAdminCaller(caller))
    throw new ApiError("FORBIDDEN", "With a token, only your own memories are yours to see and change.");
  return kernel.memories(agent ?? caller.memoryAgent);
}

/** The memories that a memory belongs to, by its id. */
function getMemoriesOf(call: RouteCall, id: string): Memories {
  const agent = /^memory:(.+)#\d+$/s.exec(id)?.[1];
  if (agent === undefined)
    throw new LonghaulError(
      "ARGUMENT_INVALID",
      `memory is ${JSON.stringify(id)}; expected an id as memory:default#3.`,
    );
  // Another person's memory gets the same answer as a memory that does not exist.
  if (!isAdminCaller(call.caller) && agent !== call.caller.memoryAgent) throw createMemoryAbsence(id);
  return getMemories(call, agent);
}

/** The ENTRY_NOT_FOUND error of a memory. */
function createMemoryAbsence(id: string): LonghaulError {
  return new LonghaulError("ENTRY_NOT_FOUND", `There is no memory ${JSON.stringify(id.slice(0, 200))}.`, {
    details: { id },
  });
}

/** Memories that say whether windows show them. */
async function addPinState(memories: Memories, facts: readonly StoredMemory[]) {
  const pins = new Set((await memories.pins()).map(({ id }) => id));
  return facts.map((fact) => ({ ...fact, isPinned: pins.has(fact.id) }));
}

/** One memory that says whether windows show it. */
async function describeMemory(memories: Memories, fact: StoredMemory) {
  const [described] = await addPinState(memories, [fact]);
  return described as typeof fact & { isPinned: boolean };
}
