import type { ThreadCandidate } from "../identity/choose-thread.ts";

/** The unfinished requests of a thread, and whether its last reply was delivered. */
export class RequestProgress {
  #inFlight = 0;
  #requestLength = 0;
  #wasDelivered = true;
  #brokenLength: number | undefined;
  /** Seq of the last message that this process has written; a newer one on the line is another gateway's. */
  #ownSeq = 0;

  /** Number of unfinished requests. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Number of messages of the last request. */
  get requestLength(): number {
    return this.#requestLength;
  }

  /** Counts a request that is about to begin, so that concurrent ones see it. */
  reserve(): void {
    this.#inFlight++;
  }

  /** Records a request of `length` messages whose reply is pending. */
  recordRequest(length: number): void {
    const isAgain = !this.#wasDelivered && length >= this.#requestLength;
    this.#brokenLength = isAgain ? (this.#brokenLength ?? this.#requestLength) : undefined;
    this.#requestLength = length;
    this.#wasDelivered = false;
  }

  /** Records the end of a request. */
  recordEnd(wasDelivered: boolean): void {
    this.#inFlight--;
    this.#wasDelivered = wasDelivered;
  }

  /** Records the seq of a message that this process has written to the line. */
  recordWritten(seq: number): void {
    this.#ownSeq = Math.max(this.#ownSeq, seq);
  }

  /** The facts by which a repeated request is recognized, for a line with these roles and the seq of its last message. */
  describe(
    roles: readonly string[],
    lastSeq = 0,
  ): Pick<ThreadCandidate, "lastRequestLength" | "isInFlight" | "lastReplyWasDelivered" | "brokenLength"> {
    if (this.#inFlight === 0 && this.#ownSeq > 0 && lastSeq > this.#ownSeq) this.#forget();
    // A line that another process left without a reply awaits a repetition of the same request.
    const isLeftUnanswered = this.#requestLength === 0 && roles.length > 0 && roles.at(-1) !== "assistant";
    return {
      lastRequestLength: isLeftUnanswered ? roles.length : this.#requestLength,
      isInFlight: this.#inFlight > 0,
      lastReplyWasDelivered: this.#wasDelivered && !isLeftUnanswered,
      brokenLength: this.#brokenLength,
    };
  }

  /** Forgets the last request, because another gateway has continued the conversation since. */
  #forget(): void {
    this.#requestLength = 0;
    this.#wasDelivered = true;
    this.#brokenLength = undefined;
  }
}
