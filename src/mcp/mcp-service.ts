import { BoundedMap } from "../base/bounded-map.ts";
import { openAgentMemory } from "../conversation/open-agent-memory.ts";
import type { Kernel } from "../index.ts";
import type { AgentMemory } from "../memory-entry.ts";
import { Confirmations } from "./confirmations.ts";
import { ConversationIndex } from "./conversation-index.ts";
import type { McpCaller } from "./mcp-caller.ts";

/** Tools to offer: five by default. */
export type ToolSet = "default" | "all";

/** Settings of a server. */
export interface McpOptions {
  readonly kernel: Kernel;
  readonly tools?: ToolSet;
  /** Called for unexpected errors, which clients do not see in full. */
  readonly onError?: (error: unknown) => void;
}

/** The state of one person between requests. */
interface CallerState {
  readonly memory: AgentMemory;
  readonly conversations: ConversationIndex;
}

const MAX_CALLERS = 200;

/** The state that all requests of a server share; requests themselves are stateless. */
export class McpService {
  readonly kernel: Kernel;
  readonly tools: ToolSet;
  readonly onError: (error: unknown) => void;
  /** Valid in every process on the same store, because the next call may reach another gateway. */
  readonly confirmations = new Confirmations(() => this.kernel.maintenance.readKey("confirmations"));
  readonly #callers = new BoundedMap<string, CallerState>({ max: MAX_CALLERS });

  constructor({ kernel, tools = "default", onError = () => {} }: McpOptions) {
    this.kernel = kernel;
    this.tools = tools;
    this.onError = onError;
  }

  /** The memory and the conversations of a caller, which remember the references that they have shown. */
  getState({ prefixes, agent }: McpCaller): CallerState {
    const key = JSON.stringify([agent, prefixes]);
    const known = this.#callers.use(key);
    if (known) return known;
    const scope = prefixes && {
      prefixes,
      owners: [...prefixes, ...(agent === undefined ? [] : [`memory:${agent}`])],
    };
    const state = {
      memory: openAgentMemory(this.kernel, { agent, scope, mayForgetUsers: true }),
      conversations: new ConversationIndex(this.kernel, prefixes),
    };
    this.#callers.set(key, state);
    return state;
  }
}
