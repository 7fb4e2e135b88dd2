import { AgentMemory, type Kernel, type MemoryScope } from "../../index.ts";
import { ContextTexts } from "./context-texts.ts";
import { HiddenEnds } from "./hidden-ends.ts";

/** Recall state of a thread between its requests. */
export class ThreadRecall {
  readonly contextTexts = new ContextTexts();
  readonly hiddenEnds = new HiddenEnds();
  #memory: { readonly memory: AgentMemory; readonly reach: string } | undefined;

  /** The memory that the tools search; it resolves the references that it has shown. */
  getMemory(kernel: Kernel, principal: string, scope: MemoryScope): AgentMemory {
    const reach = JSON.stringify(scope);
    if (this.#memory?.reach !== reach)
      this.#memory = { memory: createAgentMemory(kernel, principal, scope), reach };
    return this.#memory.memory;
  }
}

function createAgentMemory(kernel: Kernel, principal: string, scope: MemoryScope): AgentMemory {
  return new AgentMemory({
    memory: kernel.memory,
    // An agent's own memories are always shown, so each principal is a separate agent, never "default".
    memories: kernel.memories(`gateway:${principal}`),
    find: (session) => kernel.find(session),
    restore: (part) => kernel.blobs.restore(part),
    async *originals(entry) {
      await using session = await kernel.session(entry.slice(0, entry.lastIndexOf("#")));
      yield* session.expand(entry);
    },
    scope,
  });
}
