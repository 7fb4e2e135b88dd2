import { createHmac, timingSafeEqual } from "node:crypto";
import { openAgentMemory } from "../../kernel/calls/open-agent-memory.ts";
import { ConversationIndex } from "../../kernel/calls/project-conversations.ts";
import { WorkHistory } from "../../kernel/calls/work-history.ts";
import type { AgentMemory } from "../../kernel/faces/memory.ts";
import type { Kernel, SessionId } from "../../kernel/index.ts";
import { BoundedMap } from "../../model/base/caches.ts";

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
  /** Answers questions about earlier work. */
  readonly work: WorkHistory;
  readonly #callers = new BoundedMap<string, CallerState>({ max: MAX_CALLERS });

  constructor({ kernel, tools = "default", onError = () => {} }: McpOptions) {
    this.kernel = kernel;
    this.work = new WorkHistory(kernel);
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

/** A confirmation is valid for one to two of these. */
const PERIOD_MS = 10 * 60_000;
const DIGITS = 10;

/** Short codes that confirm one action on one thing, without state: a second call with the code carries it out. */
class Confirmations {
  readonly #readKey: () => Promise<string>;
  #key: Promise<string> | undefined;

  /** The key is read on first use. */
  constructor(readKey: () => Promise<string>) {
    this.#readKey = readKey;
  }

  /** The code for an action; the same for some minutes. */
  createCode(action: string, now = Date.now()): Promise<string> {
    return this.#compute(action, Math.floor(now / PERIOD_MS));
  }

  async isCode(action: string, code: string, now = Date.now()): Promise<boolean> {
    const period = Math.floor(now / PERIOD_MS);
    const isEqual = (one: string) =>
      one.length === code.length && timingSafeEqual(Buffer.from(one), Buffer.from(code));
    return isEqual(await this.#compute(action, period)) || isEqual(await this.#compute(action, period - 1));
  }

  async #compute(action: string, period: number): Promise<string> {
    this.#key ??= this.#readKey().catch((error: unknown) => {
      this.#key = undefined;
      throw error;
    });
    return createHmac("sha256", await this.#key)
      .update(`${period}\0${action}`)
      .digest("hex")
      .slice(0, DIGITS);
  }
}

/** The person and the place that requests come from. */
export interface McpCaller {
  /** Ids of the caller's sessions begin with one of these; default: the local user, who owns the whole store. */
  readonly prefixes?: readonly string[];
  /** Owner of the memories; default: the agent of the local user. */
  readonly agent?: string;
  /** Folders that the caller works in; default: unknown, and all projects are searched. */
  readonly projects?: readonly string[];
  /** The conversation that asks: its id, or the id that its client gave it; default: unknown. */
  readonly session?: SessionId;
}
