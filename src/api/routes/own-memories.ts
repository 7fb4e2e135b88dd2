import { z } from "zod";
import { LonghaulError, type Memories, type RememberedFact } from "../../index.ts";
import { isAdminCaller } from "../core/api-caller.ts";
import { ApiError } from "../core/api-error.ts";
import { about } from "../core/named-schema.ts";
import type { RouteCall } from "../core/route.ts";

export const memoryAgentSchema = about(
  z.string().min(1).max(200).optional(),
  "The agent that owns the memories; default: the person's. With a token, only that one.",
);
export const memoryParams = z.strictObject({
  memory: about(z.string().min(1).max(512), "Id, as memory:default#3."),
});

/** The memories of the person, or for the local person those of a named agent. */
export function getMemories(
  { services: { kernel }, caller }: RouteCall,
  agent: string | undefined,
): Memories {
  if (agent !== undefined && agent !== caller.memoryAgent && !isAdminCaller(caller))
    throw new ApiError("FORBIDDEN", "With a token, only your own memories are yours to see and change.");
  return kernel.memories(agent ?? caller.memoryAgent);
}

/** The memories that a memory belongs to, by its id. */
export function getMemoriesOf(call: RouteCall, id: string): Memories {
  const agent = /^memory:(.+)#\d+$/s.exec(id)?.[1];
  if (agent === undefined)
    throw new LonghaulError(
      "ARGUMENT_INVALID",
      `memory is ${JSON.stringify(id)}; expected an id as memory:default#3.`,
    );
  // The memory of somebody else is not told apart from one that does not exist.
  if (!isAdminCaller(call.caller) && agent !== call.caller.memoryAgent) throw createMemoryAbsence(id);
  return getMemories(call, agent);
}

/** The ENTRY_NOT_FOUND error of a memory. */
export function createMemoryAbsence(id: string): LonghaulError {
  return new LonghaulError("ENTRY_NOT_FOUND", `There is no memory ${JSON.stringify(id.slice(0, 200))}.`, {
    details: { id },
  });
}

/** Memories with the fact whether windows show them. */
export async function addPinState(memories: Memories, facts: readonly RememberedFact[]) {
  const pins = new Set((await memories.pins()).map(({ id }) => id));
  return facts.map((fact) => ({ ...fact, isPinned: pins.has(fact.id) }));
}

/** One memory with the fact whether windows show it. */
export async function describeMemory(memories: Memories, fact: RememberedFact) {
  const [described] = await addPinState(memories, [fact]);
  return described as typeof fact & { isPinned: boolean };
}
