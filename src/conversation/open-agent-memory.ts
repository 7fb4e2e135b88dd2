import type { Kernel, MemoryScope } from "../index.ts";
import { AgentMemory } from "../memory-entry.ts";

/** The owner and the reach of an agent's memory. */
interface AgentMemoryOptions {
  /** Owner of the memories; default: the agent of the local user. */
  readonly agent?: string | undefined;
  /** Sessions and files that may be searched; default: everything except other agents' memories. */
  readonly scope?: MemoryScope | undefined;
  readonly mayForgetUsers?: boolean | undefined;
}

/** The memory of an agent over the sessions, blobs and memories of a kernel. */
export function openAgentMemory(
  kernel: Kernel,
  { agent, scope, mayForgetUsers }: AgentMemoryOptions = {},
): AgentMemory {
  return new AgentMemory({
    memory: kernel.memory,
    memories: kernel.memories(agent),
    find: (session) => kernel.find(session),
    restore: (part) => kernel.blobs.restore(part),
    async *originals(entry) {
      await using session = await kernel.session(entry.slice(0, entry.lastIndexOf("#")));
      yield* session.expand(entry);
    },
    ...(scope && { scope }),
    ...(mayForgetUsers !== undefined && { mayForgetUsers }),
  });
}
