import { AgentMemory, type Kernel, type MemoryScope } from "../../index.ts";
import type { Thread } from "../thread/thread.ts";
import { HiddenEnds } from "./hidden-ends.ts";
import { ToldTexts } from "./told-texts.ts";

/** Recall state of a thread between its requests. */
export class ThreadRecall {
  readonly told = new ToldTexts();
  readonly hiddenEnds = new HiddenEnds();
  #memory: { readonly memory: AgentMemory; readonly reach: string } | undefined;

  /** The memory that the tools search; it resolves the references that it has shown. */
  memory(kernel: Kernel, principal: string, scope: MemoryScope): AgentMemory {
    const reach = JSON.stringify(scope);
    if (this.#memory?.reach !== reach) this.#memory = { memory: openMemory(kernel, principal, scope), reach };
    return this.#memory.memory;
  }
}

const known = new WeakMap<Thread, ThreadRecall>();

/** The recall state of a thread. */
export function threadRecall(thread: Thread): ThreadRecall {
  const found = known.get(thread) ?? new ThreadRecall();
  known.set(thread, found);
  return found;
}

function openMemory(kernel: Kernel, principal: string, scope: MemoryScope): AgentMemory {
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
