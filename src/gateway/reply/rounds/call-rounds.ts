import { redactSecrets } from "../../../model/secrets/redact-secrets.ts";
import type { WireObject } from "../../api/api.ts";
import type { ThreadCall } from "../../call/thread-call.ts";
import type { Incoming, Services } from "../../exchange/services.ts";
import type { RequestRecall } from "../../recall/recall-turn.ts";
import { getThreadRecall } from "../../recall/thread-recall.ts";
import { buildToolScope } from "../../recall/tool-scope.ts";
import type { UpstreamResult } from "../relay/upstream-refusal.ts";
import { isRequestFailure } from "./round-failure.ts";
import type { RecallRound, RoundFormat, StreamMerger } from "./round-format.ts";
import { ROUND_FORMATS } from "./round-formats.ts";
import { runRecallCalls } from "./run-recall-calls.ts";
import { trimRecallResults } from "./trim-recall-results.ts";

/** Maximum number of rounds after the first of a reply. */
export const MAX_RECALL_ROUNDS = 4;

export interface CallRoundsDeps {
  readonly call: ThreadCall;
  readonly recall: RequestRecall;
  /** Sends the request again with more elements at its end, and repairs it if it is refused. */
  readonly sendAgain: (elements: readonly WireObject[]) => Promise<UpstreamResult>;
}

/** The rounds that the client sees as one reply: carries out the calls of each round and sends the next. */
export class CallRounds {
  readonly format: RoundFormat;
  /** The reply as the client sees it, if it is a stream. */
  readonly stream: StreamMerger;
  /** The replies of all rounds, if they are not streams. */
  readonly bodies: WireObject[] = [];
  readonly #incoming: Incoming;
  readonly #services: Services;
  readonly #deps: CallRoundsDeps;
  #elements: readonly WireObject[] = [];
  readonly #notes: string[] = [];
  #count = 0;
  #windowRound = 0;

  constructor(incoming: Incoming, services: Services, own: CallRoundsDeps) {
    this.format = ROUND_FORMATS[own.call.request.api.name];
    this.stream = this.format.openStream(MAX_RECALL_ROUNDS);
    this.#incoming = incoming;
    this.#services = services;
    this.#deps = own;
  }

  /** Usage of each round, as the provider reported it. */
  get usages(): readonly WireObject[] {
    if (this.bodies.length === 0) return this.stream.usages;
    return this.bodies.map((body) => this.format.readBody(body).usage ?? {});
  }

  /** The first round sent with the current window; its usage measures the size of that window. */
  get windowRound(): number {
    return this.#windowRound;
  }

  /** True if the client has seen text, or will. */
  get hasText(): boolean {
    if (this.bodies.length === 0) return this.stream.hasText;
    return this.bodies.some((body) => this.format.readBody(body).hasText);
  }

  /** Carries out the calls of a round and sends the next one. Throws the errors of sending. */
  async sendNext({ calls, elements }: RecallRound): Promise<UpstreamResult> {
    const { principal, signal, trace } = this.#incoming;
    const { kernel, config } = this.#services;
    const { call, recall, sendAgain } = this.#deps;
    const { thread } = call;
    const memory = getThreadRecall(thread).getMemory(
      kernel,
      principal.id,
      buildToolScope(principal.id, config()),
    );
    const isLast = ++this.#count >= MAX_RECALL_ROUNDS;
    const messages = [...this.#elements, ...elements];
    const found = await runRecallCalls(calls, { memory, session: thread.session.id, signal, isLast });
    const answers = trimRecallResults(found, (call.roomTokens ?? 0) - recall.countTokens(messages));
    trace.recalls = (trace.recalls ?? 0) + answers.length;
    for (const { call, text } of answers)
      this.#notes.push(`${call.name} ${JSON.stringify(call.input).slice(0, 300)}: ${text.length} characters`);
    this.#elements = [...messages, ...this.format.encodeResults(answers)];
    const { healed } = call;
    const answer = await sendAgain(this.#elements);
    if (call.healed > healed) this.#windowRound = this.#count;
    if (!answer.refusal || this.hasText || !isRequestFailure(answer.refusal.failure)) return answer;
    return this.#sendPlain(answer);
  }

  /** If no text was sent so far, repeats the request without the gateway's tools. */
  async #sendPlain({ response: answer }: UpstreamResult): Promise<UpstreamResult> {
    const { recall, sendAgain } = this.#deps;
    answer.body.destroy();
    recall.drop();
    this.#elements = [];
    return sendAgain([]);
  }

  /** Adds a note about the hidden rounds to the session, and remembers the actual end of the reply. */
  async end(): Promise<void> {
    const { thread } = this.#deps.call;
    const end = this.bodies.length > 0 ? this.format.findEnd(this.bodies) : this.stream.end;
    if (end) getThreadRecall(thread).hiddenEnds.set(end.shown, end);
    if (this.#notes.length === 0) return;
    const text = `Recalled for the reply before this, unseen by the client:\n${this.#notes.join("\n")}`;
    const stored = this.#services.config().redact ? redactSecrets(text).text : text;
    await thread.conversation.runInTurn(() => thread.session.note(stored));
  }
}
