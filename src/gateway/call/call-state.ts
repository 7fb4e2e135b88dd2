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
export type CallSource = "client" | "repeated" | "log";
