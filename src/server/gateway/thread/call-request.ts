import { type WindowLease, WindowPool } from "../../../kernel/calls/call-window.ts";
import {
  estimateText,
  type Policy,
  resolveThinkingRule,
  type ShrinkOption,
  type ThinkingRule,
} from "../../../kernel/faces/window.ts";
import type { EntryId, FittedWindow, Session } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import type { Wire, WireObject } from "../../../wire/wire.ts";
import type { PlaceKeys } from "../identity/conversation-keys.ts";
import type { Violation } from "../outgoing/check-rules.ts";
import type { Chain } from "../request/chain.ts";
import type { CutBody, OutgoingPiece } from "../request/cut-body.ts";
import type { CompactionBlocks } from "../request/find-compactions.ts";
import type { ContextEdit } from "../request/request-fields.ts";
import type { RequestMessages } from "../request/request-messages.ts";

/** The parts of a request other than its messages that its window depends on. */
interface RequestFrame {
  /** The model, as the upstream names it. */
  readonly model: string;
  /** Maximum output tokens that the client asks for. */
  readonly maxTokens: number | undefined;
  /** Sizes of the system prompt and the tools; their text is read only if the sizes have changed much. */
  readonly leadBytes: number;
  readonly toolsBytes: number;
  readonly readLead: () => FrameText;
  readonly readTools: () => FrameText;
  /** Tools of ours that go with it; they are counted among the tools. */
  readonly recallTools?: readonly WireObject[];
  readonly laterTools?: LaterTools;
}

/** Tools of ours that may join a conversation with this request. */
export interface LaterTools {
  readonly tools: readonly WireObject[];
  /** Their estimated size. */
  readonly tokens: number;
  /** When they join, other than with an edit. */
  readonly join: "edited" | "long" | "long and cold";
}

/** A text, or how many tokens it takes where it is too large to be handed around. */
export type FrameText = string | number;

/** The same with a text after or before it. */
export function joinedText(own: FrameText, text: string, side: "after" | "before"): FrameText {
  if (typeof own === "number") return own + estimateText(text);
  return side === "after" ? own + text : `${text}\n${own}`;
}

/** Limits of the window of a request. */
export interface TokenLimits {
  /** Maximum tokens that the upstream accepts. */
  readonly window: number;
  /** Size at which the client would start to compact by itself. */
  readonly threshold: number;
  /** The rule of the model's provider for thinking that comes back; undefined if the model is unknown. */
  readonly thinking?: ThinkingRule | undefined;
  /** True if the upstream has refused a request because its output did not fit next to its messages. */
  readonly isOutputCounted?: boolean;
}

/** Share by which the provider's count may exceed the estimate. */
const UNCERTAIN_SHARE = 0.02;

/** Maximum output tokens that fit next to the messages; undefined if the upstream does not check it. */
export function limitOutput(
  { window, isOutputCounted }: TokenLimits,
  fitted: Pick<FittedWindow, "tokens"> | undefined,
): number | undefined {
  if (!isOutputCounted || !fitted) return undefined;
  return Math.max(1, Math.floor(window - fitted.tokens * (1 + UNCERTAIN_SHARE)));
}

/** The memories that go with a request. */
export interface RequestMemories {
  /** The name that the memories are stored under. */
  readonly agent: string;
  /** The end of the system prompt; undefined if the conversation began without memories. */
  readonly text: string | undefined;
  /** Memories that came later, by the index of the message that they follow. */
  readonly later?: ReadonlyMap<number, string>;
  /**
   * Moves all memories to the end of the system prompt, because the provider must read the prompt again anyway: its
   * cache is cold, or an edit has rewritten the beginning.
   */
  readonly gather?: () => Promise<RequestMemories>;
}

/** A request to a thread. */
export interface CallRequest {
  readonly api: Wire;
  readonly messages: RequestMessages;
  readonly frame: RequestFrame;
  readonly limits: TokenLimits;
  /** "none" leaves the request unchanged. */
  readonly policy: string | Policy;
  /** False if evicted content must not be paged back in; default true. */
  readonly isPaging?: boolean;
  /** Filters that shorten tool results; all by default. */
  readonly shrink?: ShrinkOption;
  /** Policies with the same key behave the same. */
  readonly policyKey: string;
  /** Edits requested with Anthropic's `context_management`, if the gateway carries them out. */
  readonly edits?: readonly ContextEdit[];
  /** Compaction blocks of the request, if the upstream does not support them. */
  readonly compactions?: CompactionBlocks;
  /** The elements to send when there is no edited window, where the original body would be refused. */
  readonly buildPlainPieces?: () => readonly OutgoingPiece[];
  /** Called once the log contains the messages of the request. */
  readonly onStored?: () => Promise<void>;
  /** Set if the request contains only new messages, because the provider stores the rest. */
  readonly chain?: Chain | undefined;
  /** The keys under which its messages and its reply are found again. */
  readonly places?: PlaceKeys;
  /** The recalled context of its messages, by index, for which its window leaves room. */
  readonly context?: ReadonlyMap<number, string>;
  /** The person's pinned memories, if there are any, and the name that they are stored under. */
  readonly memories?: RequestMemories;
  /** True if the conversation belongs to the control arm: the request is sent unchanged. */
  readonly isControl?: true;
  /** True to plan without changing anything. */
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
}

const MAX_IDLE = 2;
/** Share by which system prompt and tools may differ from those of an existing window, as dates and counters do. */
const CHANGED_SHARE = 0.02;
const CHANGED_BYTES = 400;

/** The properties of a request that its window depends on. */
type WindowKey = Pick<CallRequest, "policyKey" | "limits" | "isPaging" | "shrink"> & {
  readonly memories?: { readonly agent: string } | undefined;
  readonly frame: Pick<CallRequest["frame"], "model" | "maxTokens" | "leadBytes" | "toolsBytes">;
};

/** The windows of a thread; similar requests reuse a window. */
export type ThreadWindows = WindowPool<CallRequest, WindowKey>;

/** Creates the windows of a session. */
export function createThreadWindows(session: Session): ThreadWindows {
  return new WindowPool({
    maxIdle: MAX_IDLE,
    toKey: buildWindowKey,
    isSimilar: isSimilarWindow,
    open: ({ api, frame, limits, policy, isPaging = true, shrink = true, memories }: CallRequest) => {
      const { model, maxTokens } = frame;
      const { window, threshold } = limits;
      return session.window({
        model,
        policy,
        system: frame.readLead(),
        tools: frame.readTools(),
        oversize: "clip",
        paging: isPaging,
        shrink,
        threshold: Math.min(100, Math.max(5, (100 * threshold) / Math.max(1, window))),
        models: { [model]: { window, thinking: resolveThinkingRule(limits.thinking, api.name) } },
        ...(memories && { memories: memories.agent }),
        ...dropUndefined({ maxOutputTokens: maxTokens }),
      });
    },
  });
}

/** A window that is never fitted, for requests whose usage says nothing about a window. */
export function shareWindow(windows: ThreadWindows, callRequest: CallRequest): WindowLease {
  return windows.share({ ...callRequest, policyKey: "not fitted" });
}

/** Copies only sizes, so that no request body is retained. */
export function buildWindowKey(callRequest: CallRequest): WindowKey {
  const { policyKey, limits, frame, isPaging = true, shrink = true, memories } = callRequest;
  const { model, maxTokens, leadBytes, toolsBytes } = frame;
  const own = memories && { memories: { agent: memories.agent } };
  return {
    policyKey,
    limits,
    isPaging,
    shrink,
    ...own,
    frame: { model, maxTokens, leadBytes, toolsBytes },
  };
}

/** True if a window made for one request also suits the other. */
function isSimilarWindow(one: WindowKey, other: WindowKey): boolean {
  return (
    one.frame.model === other.frame.model &&
    one.policyKey === other.policyKey &&
    one.memories?.agent === other.memories?.agent &&
    JSON.stringify(one.shrink ?? true) === JSON.stringify(other.shrink ?? true) &&
    (one.isPaging ?? true) === (other.isPaging ?? true) &&
    one.limits.window === other.limits.window &&
    one.limits.threshold === other.limits.threshold &&
    one.frame.maxTokens === other.frame.maxTokens &&
    isNear(one.frame.leadBytes, other.frame.leadBytes) &&
    isNear(one.frame.toolsBytes, other.frame.toolsBytes)
  );
}

function isNear(one: number, other: number): boolean {
  return Math.abs(one - other) <= Math.max(CHANGED_BYTES, CHANGED_SHARE * one);
}

/** The last body of a conversation, as it is kept, and the outcome of its request. */
export interface SeenBody {
  readonly body: CutBody;
  /** Undefined if a repetition must not reuse it. */
  outcome: SentOutcome | undefined;
}

/** The outcome of a request, for an exact repetition: a client that retries, or wants another reply. */
export interface SentOutcome {
  readonly windowKey: WindowKey;
  /** Its last message. */
  readonly last: EntryId;
  readonly fitted: FittedWindow | undefined;
  /** Last seq up to which the log was inspected. */
  readonly seenSeq: number;
  readonly pieces: readonly OutgoingPiece[] | undefined;
  readonly violations: readonly Violation[];
}

interface SendingThread {
  readonly session: Session;
  readonly sent: { readonly seen: SeenBody | undefined };
}

/** Kinds of entries other than messages that affect windows. */
const DECIDING_KINDS = ["pin", "overlay", "redacted"] as const;

/**
 * The outcome of the last request of a thread, if this one is byte-identical and no pin, overlay or redaction was added
 * since.
 */
export async function findRepeatedSend(
  thread: SendingThread,
  callRequest: CallRequest,
): Promise<SentOutcome | undefined> {
  const { seen } = thread.sent;
  const sent = seen?.outcome;
  const { messages, chain, buildPlainPieces: plain, isDryRun } = callRequest;
  if (!sent || chain || plain || isDryRun || messages.cut.like !== seen?.body) return undefined;
  if (!messages.cut.bytes.equals(seen.body.bytes) || !isSimilarWindow(sent.windowKey, callRequest))
    return undefined;
  const { session } = thread;
  const { seq: head } = await session.head();
  const [decided] = await session.read({ from: sent.seenSeq + 1, to: head, kinds: DECIDING_KINDS, limit: 1 });
  if (decided) return undefined;
  // Remembers the inspected range, for many replies to one request.
  const again = { ...sent, seenSeq: head };
  if (seen.outcome === sent) seen.outcome = again;
  return again;
}
