import type { PlacedMessages } from "../../conversation/conversation.ts";
import { type EntryId, type FittedWindow, type MessageInput, parseEntryId } from "../../index.ts";
import type { Violation } from "../outgoing/violation.ts";
import type { OutgoingPiece } from "../request/outgoing-piece.ts";
import type { RequestMessage } from "../request/request-messages.ts";
import type { CallRequest } from "../thread/call-request.ts";
import type { LastSentRequest } from "../thread/last-sent-request.ts";
import type { Thread } from "../thread/thread.ts";
import type { CallSource } from "./call-state.ts";
import { buildFittedPieces, type FittedPieces, isWholeBody } from "./fitted-pieces.ts";
import { encodeLoggedWindow } from "./logged-pieces.ts";

/** The placement of a window without messages of the client. */
const NO_PLACEMENT: PlacedMessages<RequestMessage> = { byId: new Map(), last: undefined };

/** The messages that a call sends: its fitted window, and the elements for it. */
export class CallContent {
  readonly #thread: Thread;
  readonly #request: CallRequest;
  readonly #repeated: LastSentRequest | undefined;
  #source: CallSource;
  #placed: PlacedMessages<RequestMessage> | undefined;
  #lead: readonly MessageInput[] = [];
  #fitted: FittedWindow | undefined;
  #pieces: readonly OutgoingPiece[] | undefined;
  #violations: readonly Violation[] = [];

  /** `sent` is the outcome of an identical request before this one. */
  constructor(thread: Thread, callRequest: CallRequest, sent?: LastSentRequest) {
    this.#thread = thread;
    this.#request = callRequest;
    this.#repeated = sent;
    this.#source = sent ? "repeated" : "client";
    if (!sent) return;
    if (sent.fitted) {
      const { plan: _plan, page: _page, ...fitted } = sent.fitted;
      this.#fitted = fitted;
    }
    this.#pieces = sent.pieces;
    this.#violations = sent.violations;
  }

  get source(): CallSource {
    return this.#source;
  }

  /** Sends the client's messages, which the log contains now. */
  useClient(placed: PlacedMessages<RequestMessage>): void {
    this.#placed = placed;
    this.#source = "client";
  }

  /** Sends the whole conversation from the log, with `lead` before it. */
  useLog(lead: readonly MessageInput[]): void {
    this.#lead = lead;
    this.#source = "log";
  }

  get fitted(): FittedWindow | undefined {
    return this.#fitted;
  }

  /** The elements to send; undefined if the body is sent unchanged. */
  get pieces(): readonly OutgoingPiece[] | undefined {
    const { isDryRun, buildPlainPieces } = this.#request;
    if (isDryRun) return undefined;
    return isWholeBody(this.#request, this.#pieces) ? buildPlainPieces?.() : this.#pieces;
  }

  /** True if the messages differ from those of the client by an edit of the window. */
  get isEdited(): boolean {
    if (this.#request.isDryRun || !this.#fitted || isWholeBody(this.#request, this.#pieces)) return false;
    const { slots, parts } = this.#fitted;
    return (
      this.#source !== "log" ||
      parts.summaries > 0 ||
      slots.some(({ isNote, original }) => isNote || original !== undefined)
    );
  }

  /** True if an edit has rewritten the beginning of the request; shortening new results does not. */
  get isRewritten(): boolean {
    return this.isEdited && this.#fitted?.isRewritten === true;
  }

  get violations(): readonly Violation[] {
    return this.#violations;
  }

  /** The last message of the request. */
  get last(): EntryId | undefined {
    return this.#repeated?.last ?? this.#placed?.last;
  }

  /** The facts to keep in case the same request is sent again. */
  get outcome(): Pick<LastSentRequest, "fitted" | "seenSeq" | "pieces" | "violations"> {
    const { seq = 0 } = this.last === undefined ? {} : parseEntryId(this.last);
    const { plan, page, touchUp } = this.#fitted ?? {};
    const edits = [plan, page, touchUp].map((edit) => edit?.overlay ?? 0);
    const seenSeq = Math.max(seq, ...edits, this.#repeated?.seenSeq ?? 0);
    return { fitted: this.#fitted, seenSeq, pieces: this.#pieces, violations: this.#violations };
  }

  /** Sends another window; no promise if it is the client's own messages. */
  setWindow(fitted: FittedWindow): Promise<void> | undefined {
    this.#fitted = fitted;
    this.#thread.recordWindowSize(fitted.tokens, fitted.isRewritten);
    const placed = this.#placed ?? NO_PLACEMENT;
    if (this.#source === "log") return this.#setLoggedWindow(placed, fitted);
    const built = buildFittedPieces(this.#thread, this.#request, placed, fitted);
    if (built instanceof Promise) return built.then((pieces) => this.#setPieces(pieces));
    this.#setPieces(built);
    return undefined;
  }

  async #setLoggedWindow(placed: PlacedMessages<RequestMessage>, fitted: FittedWindow): Promise<void> {
    const logged = await encodeLoggedWindow(this.#thread, this.#request, placed, fitted, this.#lead);
    this.#setPieces(logged);
    // A request that would be refused again for another reason is not sent: the provider's first error is the better
    // reply.
    if (!logged.isAccepted) this.#source = "client";
  }

  #setPieces({ pieces, violations }: FittedPieces): void {
    this.#pieces = pieces;
    this.#violations = violations;
  }
}
