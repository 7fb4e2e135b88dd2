import type { JsonObject } from "../api/api.ts";
import type { Admitted, ExchangeParts } from "../exchange/parts.ts";
import { redactSecrets } from "../redact/redact-secrets.ts";
import type { Call } from "../thread/call.ts";
import type { UpstreamAnswer } from "../upstream/send-upstream.ts";
import { carryOut } from "./carry-out.ts";
import { reachOf } from "./reach.ts";
import type { OwnRound, RoundForm, StreamJoiner } from "./rounds/joiner.ts";
import { ROUND_FORMS } from "./rounds/round-forms.ts";
import { threadRecall } from "./thread-recall.ts";

/** How many rounds may follow the first of a reply. */
export const MOST_ROUNDS = 4;

/** Sends a request again with more elements behind it. */
export type SendAgain = (elements: readonly JsonObject[]) => Promise<UpstreamAnswer>;

/** The rounds of one reply that the client does not see: carries out their calls and sends what follows. */
export class RoundsOfCall {
  readonly form: RoundForm;
  /** The reply as the client sees it, if it is a stream. */
  readonly stream: StreamJoiner;
  /** The replies of all rounds, if they are none. */
  readonly bodies: JsonObject[] = [];
  readonly #admitted: Admitted;
  readonly #parts: ExchangeParts;
  readonly #call: Call;
  readonly #send: SendAgain;
  #elements: readonly JsonObject[] = [];
  readonly #notes: string[] = [];
  #count = 0;

  constructor(admitted: Admitted, parts: ExchangeParts, call: Call, send: SendAgain) {
    this.form = ROUND_FORMS[call.asked.api.name];
    this.stream = this.form.openStream(MOST_ROUNDS);
    this.#admitted = admitted;
    this.#parts = parts;
    this.#call = call;
    this.#send = send;
  }

  /** What each round has used, as the provider wrote it. */
  get usages(): readonly JsonObject[] {
    if (this.bodies.length === 0) return this.stream.usages;
    return this.bodies.map((body) => this.form.readBody(body).usage ?? {});
  }

  /** Answers a round and sends the next. Throws what sending throws. */
  async answer({ calls, elements }: OwnRound): Promise<UpstreamAnswer> {
    const { principal, signal, trace } = this.#admitted;
    const { kernel, config } = this.#parts;
    const { thread } = this.#call;
    const memory = threadRecall(thread).memory(kernel, principal.id, reachOf(principal.id, config()));
    const isLast = ++this.#count >= MOST_ROUNDS;
    const answers = await carryOut(calls, { memory, session: thread.session.id, signal, isLast });
    trace.recalls = (trace.recalls ?? 0) + answers.length;
    for (const { call, text } of answers)
      this.#notes.push(`${call.name} ${JSON.stringify(call.input).slice(0, 300)}: ${text.length} characters`);
    this.#elements = [...this.#elements, ...elements, ...this.form.results(answers)];
    return this.#send(this.#elements);
  }

  /** Leaves a note for people of what the client has not seen, and remembers how the reply really ended. */
  async end(): Promise<void> {
    const { thread } = this.#call;
    const end = this.bodies.length > 0 ? this.form.bodyEnd(this.bodies) : this.stream.end;
    if (end) threadRecall(thread).hiddenEnds.set(end.shown, end);
    if (this.#notes.length === 0) return;
    const text = `Recalled for the reply before this, unseen by the client:\n${this.#notes.join("\n")}`;
    const stored = this.#parts.config().redact ? redactSecrets(text).text : text;
    await thread.conversation.inTurn(() => thread.session.note(stored));
  }
}
