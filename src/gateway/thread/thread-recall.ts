import type { Kernel, MemoryScope } from "../../index.ts";
import { AgentMemory } from "../../memory-entry.ts";
import { ContextTexts } from "./context-texts.ts";
import { HiddenEnds } from "./hidden-ends.ts";

/** Recall state of a thread between its requests. */
export class ThreadRecall {
  readonly contextTexts = new ContextTexts();
  readonly hiddenEnds = new HiddenEnds();
  #memory: { readonly memory: AgentMemory; readonly reach: string } | undefined;

  /** The memory that the tools search; it resolves the references that it has shown. */
  getMemory(kernel: Kernel, agent: string, scope: MemoryScope | undefined): AgentMemory {
    const reach = JSON.stringify([agent, scope]);
    if (this.#memory?.reach !== reach)
      this.#memory = { memory: createAgentMemory(kernel, agent, scope), reach };
    return this.#memory.memory;
  }
}

function createAgentMemory(kernel: Kernel, agent: string, scope: MemoryScope | undefined): AgentMemory {
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
  });
}
