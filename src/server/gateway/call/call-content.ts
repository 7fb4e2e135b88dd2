import type { PlacedMessages } from "../../../kernel/calls/conversation.ts";
import { type EntryId, type FittedWindow, type MessageInput, parseEntryId } from "../../../kernel/index.ts";
import { getMessageKey } from "../identity/canonical-key.ts";
import { alternatePieces } from "../outgoing/alternate-pieces.ts";
import { moveLostMarkers } from "../outgoing/cache-markers.ts";
import type { Violation } from "../outgoing/check-rules.ts";
import { findBrokenRules, findViolations } from "../outgoing/check-rules.ts";
import {
  buildOutgoingPieces,
  buildPiecesFromLog,
  hasClientPieces,
  isUnchangedWindow,
  listPieceElements,
  planOutgoing,
} from "../outgoing/outgoing-pieces.ts";
import type { OutgoingPiece } from "../request/cut-body.ts";
import type { RequestMessage } from "../request/request-messages.ts";
import type { CallRequest, SentOutcome } from "../thread/call-request.ts";
import type { Thread } from "../thread/thread.ts";

/** The placement of a window without messages of the client. */
const NO_PLACEMENT: PlacedMessages<RequestMessage> = { byId: new Map(), last: undefined };

/** Approximate memory of a window. */
const BYTES_PER_TOKEN = 10;
/** An edited window keeps lines and facts of the messages it left out. */
const BYTES_PER_EDITED_TOKEN = 40;

/** The messages that a call sends: its fitted window, and the elements for it. */
export class CallContent {
  readonly #thread: Thread;
  readonly #request: CallRequest;
  readonly #repeated: SentOutcome | undefined;
  source: CallSource;
  #placed: PlacedMessages<RequestMessage> | undefined;
  #lead: readonly MessageInput[] = [];
  fitted: FittedWindow | undefined;
  #pieces: readonly OutgoingPiece[] | undefined;
  /** Rules of the provider that an edit would have violated; such an edit is not sent. */
  violations: readonly Violation[] = [];

  /** `sent` is the outcome of an identical request before this one. */
  constructor(thread: Thread, callRequest: CallRequest, sent?: SentOutcome) {
    this.#thread = thread;
    this.#request = callRequest;
    this.#repeated = sent;
    this.source = sent ? "repeated" : "client";
    if (!sent) return;
    if (sent.fitted) {
      const { plan: _plan, page: _page, ...fitted } = sent.fitted;
      this.fitted = fitted;
    }
    this.#pieces = sent.pieces;
    this.violations = sent.violations;
  }

  /** Sends the client's messages, which the log contains now. */
  useClient(placed: PlacedMessages<RequestMessage>): void {
    this.#placed = placed;
    this.source = "client";
  }

  /** Sends the whole conversation from the log, with `lead` before it. */
  useLog(lead: readonly MessageInput[]): void {
    this.#lead = lead;
    this.source = "log";
  }

  /**
   * True if the request was rewritten from the log to contain the whole conversation, though the client sent only new
   * messages.
   */
  get isFromLog(): boolean {
    return this.source === "log";
  }

  /** The elements to send; undefined if the body is sent unchanged. */
  get pieces(): readonly OutgoingPiece[] | undefined {
    const { isDryRun, buildPlainPieces } = this.#request;
    if (isDryRun) return undefined;
    const isWhole = !this.#pieces || isWholeBody(this.#request, this.#pieces);
    return isWhole ? buildPlainPieces?.() : this.#pieces;
  }

  /** True if the messages differ from those of the client by an edit of the window. */
  get isEdited(): boolean {
    if (this.#request.isDryRun || !this.fitted || isWholeBody(this.#request, this.#pieces)) return false;
    const { slots, parts } = this.fitted;
    return (
      this.source !== "log" ||
      parts.summaries > 0 ||
      slots.some(({ isNote, original }) => isNote || original !== undefined)
    );
  }

  /** True if an edit has rewritten the beginning of the request, so that its cached prefix ends there. */
  get isRewritten(): boolean {
    return this.isEdited && this.fitted?.isRewritten === true;
  }

  /** The last message of the request; the reply follows it. */
  get last(): EntryId | undefined {
    return this.#repeated?.last ?? this.#placed?.last;
  }

  /** The facts to keep in case the same request is sent again. */
  get outcome(): Pick<SentOutcome, "fitted" | "seenSeq" | "pieces" | "violations"> {
    const { seq = 0 } = this.last === undefined ? {} : parseEntryId(this.last);
    const { plan, page, touchUp } = this.fitted ?? {};
    const edited = Math.max(plan?.overlay ?? 0, page?.overlay ?? 0, touchUp?.overlay ?? 0);
    const seenSeq = Math.max(seq, edited, this.#repeated?.seenSeq ?? 0);
    return { fitted: this.fitted, seenSeq, pieces: this.#pieces, violations: this.violations };
  }

  /** Sends another window. */
  async setWindow(fitted: FittedWindow): Promise<void> {
    this.fitted = fitted;
    const bytesPerToken = fitted.isRewritten ? BYTES_PER_EDITED_TOKEN : BYTES_PER_TOKEN;
    this.#thread.sent.windowBytes = fitted.tokens * bytesPerToken;
    const placed = this.#placed ?? NO_PLACEMENT;
    const { pieces, violations, isAccepted } =
      this.source === "log"
        ? await encodeLoggedWindow(this.#thread, this.#request, placed, fitted, this.#lead)
        : await buildFittedPieces(this.#thread, this.#request, placed, fitted);
    this.#pieces = pieces;
    this.violations = violations;
    // A request that would be refused again for another reason is not sent: the provider's first error is the better
    // reply.
    if (isAccepted === false) this.source = "client";
  }
}

/** The life of a call: its thread is busy until it is answered, and its window is in use until it ends. */
export type CallState = "open" | "answered" | "ended";

/** A reply has arrived, whole or not; or nothing more is done for the call. */
export type CallEvent = "answer" | "end";

/** Things to give up on a transition. */
export interface CallTransition {
  readonly next: CallState;
  /** True if the thread becomes free for the next request. */
  readonly freesThread: boolean;
  readonly freesWindow: boolean;
}

/** Every event in every state; repeated events do nothing. */
export const CALL_TRANSITIONS: Readonly<Record<CallState, Readonly<Record<CallEvent, CallTransition>>>> = {
  open: {
    answer: { next: "answered", freesThread: true, freesWindow: false },
    end: { next: "ended", freesThread: true, freesWindow: true },
  },
  answered: {
    answer: { next: "answered", freesThread: false, freesWindow: false },
    end: { next: "ended", freesThread: false, freesWindow: true },
  },
  ended: {
    answer: { next: "ended", freesThread: false, freesWindow: false },
    end: { next: "ended", freesThread: false, freesWindow: false },
  },
};

/**
 * The messages that a call sends: the client's, those of an identical earlier request, or the whole conversation from
 * the log, though the client sent only new messages.
 */
type CallSource = "client" | "repeated" | "log";

/** The outgoing form of a window. */
interface FittedPieces {
  /** Undefined if the body is sent unchanged. */
  readonly pieces: readonly OutgoingPiece[] | undefined;
  /** Rules of the provider that the edit would have violated; it is then not sent. */
  readonly violations: readonly Violation[];
  /** False if the whole conversation would be refused for another reason. */
  readonly isAccepted?: boolean;
}

const UNCHANGED: FittedPieces = { pieces: undefined, violations: [] };

/** Converts a fitted window to the elements of a request. */
async function buildFittedPieces(
  thread: Thread,
  callRequest: CallRequest,
  placed: PlacedMessages<RequestMessage>,
  fitted: FittedWindow,
): Promise<FittedPieces> {
  const { api, messages } = callRequest;
  const session = thread.session.id;
  const given = thread.messages.getLineMessages(messages);
  if (!messages.dropped && isUnchangedWindow(fitted, { given, last: placed.last }, session)) return UNCHANGED;
  const notes = messages.list.slice(given.length).map(({ index }) => ({ type: "same", index }) as const);
  const outgoing = [...planOutgoing({ ...fitted, session, placed, keyOf: getMessageKey }), ...notes];
  const written = await buildOutgoingPieces(
    api,
    messages,
    outgoing,
    thread.sent.encodedMessages,
    thread.messages.content.loadBase64,
  );
  const marked = api.name === "anthropic" ? moveLostMarkers(messages.cut, written) : written;
  const pieces = alternatePieces(api.name, messages, marked);
  // A shortened result keeps its place, its call and its blocks, so it breaks no rule.
  // A plan is checked when it is made, until it is valid; later requests only repeat and extend it.
  const isLooked = fitted.plan || fitted.page || messages.list[0]?.isLogged || thread.sent.isSuspect;
  if (!isLooked || isWholeBody(callRequest, pieces)) return { pieces, violations: [] };
  const violations = findBrokenRules(api.name, messages.cut, pieces);
  thread.sent.isSuspect = violations.length > 0;
  // An edit that the provider would refuse is worse than none.
  return { pieces: violations.length > 0 ? undefined : pieces, violations };
}

/** True if the pieces are the whole body, unchanged. */
function isWholeBody(
  { messages, buildPlainPieces: plain }: CallRequest,
  pieces: readonly OutgoingPiece[] | undefined,
): boolean {
  const [only, ...others] = pieces ?? [];
  if (!only) return true;
  if (others.length > 0 || !("from" in only) || (plain && only.from > 0)) return false;
  return only.to === messages.cut.elements.length;
}

/** Converts a fitted window to the elements of a request, taking all but the client's own messages from the log. */
async function encodeLoggedWindow(
  thread: Thread,
  { api, messages }: CallRequest,
  placed: PlacedMessages<RequestMessage>,
  fitted: FittedWindow,
  lead: readonly MessageInput[],
): Promise<FittedPieces> {
  const source = { ...fitted, session: thread.session.id, placed, keyOf: getMessageKey };
  const pieces = await buildPiecesFromLog(
    api,
    { ...source, client: messages, lead },
    thread.messages.content,
  );
  const violations = findViolations(api.name, listPieceElements(messages.cut, pieces));
  return { pieces, violations, isAccepted: violations.length === 0 && hasClientPieces(messages, pieces) };
}
