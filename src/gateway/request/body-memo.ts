import type { WireObject } from "../../wire/wire.ts";
import type { AgentShape } from "../identity/agent-shape.ts";
import type { OutgoingPiece } from "./outgoing-piece.ts";

/** Facts about the agent that sent a body, from its system prompt and tools. */
export interface BodyFacts {
  /** The beginning of the system prompt. */
  readonly lead: string;
  /** The working directory that the system prompt states. */
  readonly project?: string;
  readonly toolNames: readonly string[];
  readonly shape: AgentShape;
}

/** Fields of a request, other than messages, tools and system prompt, that the gateway reads. */
export interface RequestFields {
  /** All short fields. */
  readonly all: WireObject;
  readonly model: string | undefined;
  readonly isStreamed: boolean;
  /** Maximum tokens of the reply. */
  readonly maxTokens: number | undefined;
}

/** Results about a body that later bodies with the same beginning reuse. */
export interface BodyMemo {
  facts?: BodyFacts;
  /** Elements that name compaction blocks. */
  compactionElements?: readonly number[];
  /** Elements with a cache marker. */
  markedElements?: readonly number[];
  /** The pieces that were sent for the body. */
  sentPieces?: readonly OutgoingPiece[];
  additions?: SentAdditions;
}

/** The gateway's additions to a request of a conversation. */
export interface SentAdditions {
  /** True if the person's memories go with it, once there are any. */
  readonly hasMemories: boolean;
  readonly hasTools: boolean;
  /** True if the conversation belongs to the control arm. */
  readonly isControl: boolean;
}
