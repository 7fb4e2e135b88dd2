import type { Json } from "../../index.ts";
import { toArray, toObject } from "../../wire/fields.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { SharedState } from "./claude-code-conversation.ts";
import { getToolResults } from "./claude-code-lines.ts";
import { Lane } from "./lane.ts";

/** Maximum sub-agents that are tracked at once. */
const MAX_AGENTS = 32;
/** A sub-agent that was silent for this many lines adds nothing more to its last message. */
const MAX_SILENT_LINES = 300;

interface Agent {
  /** Number of the last line that concerned the sub-agent. */
  line: number;
  /** The call that started the sub-agent. */
  readonly callId: string | undefined;
}

/** The conversations of a file: its own, named "", and those of active sub-agents. */
export class Lanes {
  readonly #shared: SharedState;
  readonly #lanes = new Map<string, Lane>();
  readonly #agents = new Map<string, Agent>();

  constructor(shared: SharedState, state: JsonObject) {
    this.#shared = shared;
    for (const [child, lane] of Object.entries(toObject(state.lanes) ?? {}))
      this.#lanes.set(child, new Lane(shared, child === "" ? undefined : child, lane as Json));
    for (const [child, line, callId] of toArray(state.agents) as [string, number, string | null][])
      this.#agents.set(child, { line, callId: callId ?? undefined });
  }

  get heldBytes(): number {
    let bytes = 0;
    for (const lane of this.#lanes.values()) bytes += lane.heldBytes;
    return bytes;
  }

  /** Tells whether a line with this id was read in the file's own conversation. */
  has(uuid: string): boolean {
    return this.#lanes.get("")?.has(uuid) ?? false;
  }

  /** Returns the lane of a conversation, opening it if necessary, and notes that `line` concerns it. */
  get(child: string, line: number, callId?: string): Lane {
    const agent = this.#agents.get(child);
    if (agent) agent.line = line;
    return this.#lanes.get(child) ?? this.#open(child, line, callId);
  }

  /** Retires sub-agents whose call the line answers, or that have been silent for long, and emits their held lines. */
  retireAgents({ record, line }: LineRecord): void {
    if (this.#agents.size === 0) return;
    const answered =
      record.isSidechain === true ? [] : getToolResults(record).map(({ tool_use_id: id }) => id);
    for (const [child, agent] of this.#agents) {
      const isAnswered = agent.callId !== undefined && answered.includes(agent.callId);
      if (isAnswered || line - agent.line > MAX_SILENT_LINES) this.#retire(child);
    }
  }

  /** Emits all held lines. */
  flush(isGrowing: boolean): void {
    for (const lane of this.#lanes.values()) lane.flush(isGrowing);
  }

  toJSON(): { readonly [field: string]: Json } {
    return {
      lanes: Object.fromEntries([...this.#lanes].map(([child, lane]) => [child, lane.toJSON()])),
      agents: [...this.#agents].map(([child, { line, callId = null }]) => [child, line, callId]),
    };
  }

  #open(child: string, line: number, callId: string | undefined): Lane {
    const lane = new Lane(this.#shared, child === "" ? undefined : child);
    if (child !== "") {
      for (const oldest of this.#agents.keys()) {
        if (this.#agents.size < MAX_AGENTS) break;
        this.#retire(oldest);
      }
      this.#agents.set(child, { line, callId });
      if (callId !== undefined) this.#shared.emit({ type: "session", child, meta: { callId } });
    }
    this.#lanes.set(child, lane);
    return lane;
  }

  #retire(child: string): void {
    this.#lanes.get(child)?.flush();
    this.#lanes.delete(child);
    this.#agents.delete(child);
  }
}
