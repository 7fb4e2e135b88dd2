import { estimateText, type Fitted, type Policy } from "../../index.ts";
import type { Api, JsonObject } from "../api/api.ts";
import type { WireMessages } from "../body/wire-message.ts";
import type { FoundCompactions } from "../compaction/find-compactions.ts";
import type { ContextEdit } from "../edits/context-edit.ts";
import type { Chain } from "./chain.ts";
import type { Piece } from "./outgoing.ts";

/** What a request holds besides its messages, as far as its window depends on it. */
export interface Frame {
  /** The model as the upstream knows it. */
  readonly model: string;
  /** Tokens that the client lets the model say. */
  readonly maxTokens: number | undefined;
  /** Bytes of the system prompt and of the tools; their words are asked for only when they have changed much. */
  readonly leadBytes: number;
  readonly toolsBytes: number;
  readonly lead: () => FrameText;
  readonly tools: () => FrameText;
  /** Tools of ours that go with it; they are counted among the tools. */
  readonly ownTools?: readonly JsonObject[];
}

/** A text, or how many tokens it takes where it is too large to be handed around. */
export type FrameText = string | number;

/** The same with a text behind or before it. */
export function joinedText(own: FrameText, text: string, place: "behind" | "before"): FrameText {
  if (typeof own === "number") return own + estimateText(text);
  return place === "behind" ? own + text : `${text}\n${own}`;
}

/** Limits of the window of a request. */
export interface Room {
  /** Tokens that the upstream takes at most. */
  readonly window: number;
  /** Tokens from which on the client would begin to compact by itself. */
  readonly threshold: number;
  /** True if the upstream has refused a request because its output did not fit beside its messages. */
  readonly isOutputCounted?: boolean;
}

/** Share by which the provider may count more tokens than expected. */
const UNCERTAIN_SHARE = 0.02;

/** The output that fits beside messages, where the upstream minds. */
export function outputWithin(
  { window, isOutputCounted }: Room,
  fitted: Pick<Fitted, "tokens"> | undefined,
): number | undefined {
  if (!isOutputCounted || !fitted) return undefined;
  return Math.max(1, Math.floor(window - fitted.tokens * (1 + UNCERTAIN_SHARE)));
}

/** A request as a thread takes it. */
export interface Asked {
  readonly api: Api;
  readonly said: WireMessages;
  readonly frame: Frame;
  readonly room: Room;
  /** "none" leaves everything as it is. */
  readonly policy: string | Policy;
  /** False if what has left the window is not to be brought back. */
  readonly isPaging?: boolean;
  /** Policies of the same key do the same. */
  readonly policyKey: string;
  /** What the client asks for with Anthropic's `context_management`, where the gateway carries it out. */
  readonly edits?: readonly ContextEdit[];
  /** Compaction blocks of the request, where the upstream does not know them. */
  readonly compactions?: FoundCompactions;
  /** The elements to be sent where no window can be: the body as it came would be refused. */
  readonly plain?: () => readonly Piece[];
  /** Carried out once the log says what the request says. */
  readonly onTaken?: () => Promise<void>;
  /** Set if the request holds only what is new: the provider has the rest. */
  readonly chain?: Chain | undefined;
  /** True to plan and change nothing. */
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
}
