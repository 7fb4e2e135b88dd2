import { z } from "zod";
import { isAdminCaller } from "../core/api-caller.ts";
import { about } from "../core/named-schema.ts";
import { type ApiRoute, defineRoute } from "../core/route.ts";
import { memorySchema } from "../schemas/memory-schemas.ts";
import { describeMemory, getMemoriesOf, memoryParams } from "./own-memories.ts";

const tag = "Memories";
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
