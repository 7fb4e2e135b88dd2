import { openAgentMemory } from "../../conversation/open-agent-memory.ts";
import type { Kernel, MemoryScope } from "../../index.ts";
import type { AgentMemory } from "../../memory-entry.ts";
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
      this.#memory = { memory: openAgentMemory(kernel, { agent, scope }), reach };
    return this.#memory.memory;
  }
}
