import { isLonghaulError } from "../../../kernel/index.ts";
import { EncodedMessages } from "../outgoing/outgoing-pieces.ts";
import type { CallRequest, SeenBody } from "./call-request.ts";

const BYTES_PER_TOKEN = 10;
/** An edited window keeps lines and facts of the messages it left out. */
const BYTES_PER_EDITED_TOKEN = 40;

/** Instructions of a request, and the response that they are stored with. */
interface StoredLead {
  readonly key: string;
  readonly response: string;
}

/** Facts about the last requests of a thread, for its next one. They only live as long as the thread is in memory. */
export class SentRequests {
  /** The body of the last request, if it is kept. */
  seen: SeenBody | undefined;
  readonly encodedMessages = new EncodedMessages();
  /** True if the edited window violated a rule of the provider. */
  isSuspect = false;
  /** True if the person was advised to begin a new conversation, as far as this process knows. */
  isAdvised = false;
  /** Requests that no other window could repair. */
  readonly hopeless = new HopelessRequests();
  /** The instructions of the requests, as last stored with a response. */
  storedLead: StoredLead | undefined;
  /** Approximate memory of the window. */
  windowBytes = 0;

  /** Records the size of the window. */
  recordWindowSize(tokens: number, isEdited: boolean): void {
    this.windowBytes = tokens * (isEdited ? BYTES_PER_EDITED_TOKEN : BYTES_PER_TOKEN);
  }
}

/** A request this much smaller than a refused one is worth repairing again. */
const MAX_SHARE = 0.75;

/** With fewer repairs, the turn was out of them: the next question may be repaired again. */
const MIN_REPAIRS = 3;

/** Remembers the smallest request of a thread that was finally refused as too long, until one succeeds. */
class HopelessRequests {
  #refused: { readonly model: string; readonly bytes: number } | undefined;

  /** True if a request is not much smaller than one that could not be repaired. */
  covers({ messages, frame }: CallRequest): boolean {
    const { model, bytes } = this.#refused ?? {};
    return bytes !== undefined && model === frame.model && messages.cut.bytes.length > bytes * MAX_SHARE;
  }

  /** Records a request that was refused after `repairs`. */
  record({ messages, frame: { model } }: CallRequest, repairs: number): void {
    if (repairs < MIN_REPAIRS) return;
    const known = this.#refused?.model === model ? this.#refused.bytes : Number.POSITIVE_INFINITY;
    this.#refused = { model, bytes: Math.min(known, messages.cut.bytes.length) };
  }

  /** Clears the record after a successful request. */
  forget(): void {
    this.#refused = undefined;
  }
}

/** Error codes of a window that cannot be reduced any further. */
const HOPELESS_CODES = ["WINDOW_OVERFLOW", "WINDOW_FLOOR", "WINDOW_STUCK"] as const;

/** True for the error of a window that cannot be reduced any further. */
export function isHopeless(error: unknown): boolean {
  return HOPELESS_CODES.some((code) => isLonghaulError(error, code));
}
