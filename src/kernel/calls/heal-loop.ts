/** One try to send a call. */
export interface SendAttempt<Answer, Refusal> {
  readonly answer: Answer;
  /** Set if the provider refused the call. */
  readonly refusal?: Refusal;
}

/** The steps of sending a call. */
interface HealLoop<Answer, Refusal> {
  send(): Promise<SendAttempt<Answer, Refusal>>;
  /** Changes the call after a refusal; false if no other window would be accepted. */
  heal(refusal: Refusal): Promise<boolean>;
  /** Frees an answer that is sent again. */
  discard?(answer: Answer): unknown;
}

/** Sends a call until it is accepted, or until no other window would help; returns the last try. */
export async function runHealLoop<Answer, Refusal>(
  loop: HealLoop<Answer, Refusal>,
): Promise<SendAttempt<Answer, Refusal>> {
  for (;;) {
    const attempt = await loop.send();
    if (attempt.refusal === undefined || !(await loop.heal(attempt.refusal))) return attempt;
    await loop.discard?.(attempt.answer);
  }
}
