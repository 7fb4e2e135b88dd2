import { redactSecrets } from "../../model/secrets/redact-secrets.ts";
import type { JsonObject } from "../api/api.ts";
import type { Admitted, ExchangeParts } from "../exchange/parts.ts";
import type { Answered } from "../exchange/refusal.ts";
import type { Call } from "../thread/call.ts";
import { carryOut } from "./carry-out.ts";
import { reachOf } from "./reach.ts";
import type { RecallTurn } from "./recall-turn.ts";
import { isOfRequest } from "./round-failure.ts";
import type { OwnRound, RoundForm, StreamJoiner } from "./rounds/joiner.ts";
import { ROUND_FORMS } from "./rounds/round-forms.ts";
import { threadRecall } from "./thread-recall.ts";
import { answersWithin } from "./within-room.ts";

/** Maximum number of rounds after the first of a reply. */
export const MOST_ROUNDS = 4;

export interface RoundParts {
  readonly call: Call;
  readonly recalled: RecallTurn;
  /** Sends the request again with more elements at its end, and repairs it if it is refused. */
  readonly sendAgain: (elements: readonly JsonObject[]) => Promise<Answered>;
}

/** The rounds that the client sees as one reply: carries out the calls of each round and sends the next. */
export class RoundsOfCall {
  readonly form: RoundForm;
  /** The reply as the client sees it, if it is a stream. */
  readonly stream: StreamJoiner;
  /** The replies of all rounds, if they are not streams. */
  readonly bodies: JsonObject[] = [];
  readonly #admitted: Admitted;
  readonly #parts: ExchangeParts;
  readonly #own: RoundParts;
  #elements: readonly JsonObject[] = [];
  readonly #notes: string[] = [];
  #count = 0;
  #windowRound = 0;

  constructor(admitted: Admitted, parts: ExchangeParts, own: RoundParts) {
    this.form = ROUND_FORMS[own.call.asked.api.name];
    this.stream = this.form.openStream(MOST_ROUNDS);
    this.#admitted = admitted;
    this.#parts = parts;
    this.#own = own;
  }

  /** Usage of each round, as the provider reported it. */
  get usages(): readonly JsonObject[] {
    if (this.bodies.length === 0) return this.stream.usages;
    return this.bodies.map((body) => this.form.readBody(body).usage ?? {});
  }

  /** The first round sent with the current window; its usage measures the size of that window. */
  get windowRound(): number {
    return this.#windowRound;
  }

  /** True if the client has seen text, or will. */
  get hasSaid(): boolean {
    if (this.bodies.length === 0) return this.stream.hasSaid;
    return this.bodies.some((body) => this.form.readBody(body).hasSaid);
  }

  /** Carries out the calls of a round and sends the next one. Throws the errors of sending. */
  async answer({ calls, elements }: OwnRound): Promise<Answered> {
    const { principal, signal, trace } = this.#admitted;
    const { kernel, config } = this.#parts;
    const { call, recalled, sendAgain } = this.#own;
    const { thread } = call;
    const memory = threadRecall(thread).memory(kernel, principal.id, reachOf(principal.id, config()));
    const isLast = ++this.#count >= MOST_ROUNDS;
    const said = [...this.#elements, ...elements];
    const found = await carryOut(calls, { memory, session: thread.session.id, signal, isLast });
    const answers = answersWithin(found, (call.roomTokens ?? 0) - recalled.tokens(said));
    trace.recalls = (trace.recalls ?? 0) + answers.length;
    for (const { call, text } of answers)
      this.#notes.push(`${call.name} ${JSON.stringify(call.input).slice(0, 300)}: ${text.length} characters`);
    this.#elements = [...said, ...this.form.results(answers)];
    const { healed } = call;
    const answered = await sendAgain(this.#elements);
    if (call.healed > healed) this.#windowRound = this.#count;
    if (!answered.refusal || this.hasSaid || !isOfRequest(answered.refusal.failure)) return answered;
    return this.#sendPlain(answered);
  }

  /** If no text was sent so far, repeats the request without the gateway's tools. */
  async #sendPlain({ answer }: Answered): Promise<Answered> {
    const { recalled, sendAgain } = this.#own;
    answer.body.destroy();
    recalled.drop();
    this.#elements = [];
    return sendAgain([]);
  }

  /** Adds a note about the hidden rounds to the session, and remembers the actual end of the reply. */
  async end(): Promise<void> {
    const { thread } = this.#own.call;
    const end = this.bodies.length > 0 ? this.form.bodyEnd(this.bodies) : this.stream.end;
    if (end) threadRecall(thread).hiddenEnds.set(end.shown, end);
    if (this.#notes.length === 0) return;
    const text = `Recalled for the reply before this, unseen by the client:\n${this.#notes.join("\n")}`;
    const stored = this.#parts.config().redact ? redactSecrets(text).text : text;
    await thread.conversation.inTurn(() => thread.session.note(stored));
  }
}
