import { redactSecrets } from "../../../model/secrets/redact-secrets.ts";
import type { WireObject } from "../../../wire/wire.ts";
import type { Exchange, RequestRecall } from "../../exchange/exchange-state.ts";
import { getMemoryAgent } from "../../identity/person-ids.ts";
import { buildPersonScope, listConversations } from "../../recall/person-scope.ts";
import { SAVE_TOOL } from "../../recall/recall-tools.ts";
import { findShownEntries } from "../../recall/shown-content.ts";
import type { UpstreamResult } from "../relay/upstream-refusal.ts";
import { sendRound } from "../send-until-accepted.ts";
import { isRequestFailure } from "./round-failure.ts";
import type { RecallCallResult, RecallRound, RoundFormat, StreamMerger } from "./round-format.ts";
import { ROUND_FORMATS } from "./round-formats.ts";
import { runRecallCalls } from "./run-recall-calls.ts";
import { trimRecallResults } from "./trim-recall-results.ts";

/** Maximum number of rounds after the first of a reply. */
export const MAX_RECALL_ROUNDS = 4;

/** The rounds that the client sees as one reply: carries out the calls of each round and sends the next. */
export class CallRounds {
  readonly format: RoundFormat;
  /** The reply as the client sees it, if it is a stream. */
  readonly stream: StreamMerger;
  /** The replies of all rounds, if they are not streams. */
  readonly bodies: WireObject[] = [];
  readonly #exchange: Exchange;
  readonly #recall: RequestRecall;
  #elements: readonly WireObject[] = [];
  readonly #notes: string[] = [];
  #count = 0;
  #windowRound = 0;

  constructor(exchange: Exchange, recall: RequestRecall) {
    this.format = ROUND_FORMATS[exchange.request.api.name];
    this.stream = this.format.openStream(MAX_RECALL_ROUNDS);
    this.#exchange = exchange;
    this.#recall = recall;
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
    const { incoming, services, trace, thread, call } = this.#exchange;
    const { principal, signal } = incoming;
    const { kernel } = services;
    const memory = thread.recall.getMemory(kernel, getMemoryAgent(principal), buildPersonScope(principal));
    const { project } = thread.meta;
    const findInProject = () =>
      project === undefined ? undefined : listConversations(kernel, principal, project);
    const isLast = ++this.#count >= MAX_RECALL_ROUNDS;
    const sent = [...this.#elements, ...elements];
    const found = await runRecallCalls(calls, {
      memory,
      findInProject,
      session: thread.session.id,
      findShown: () => findShownEntries(call),
      signal,
      isLast,
    });
    const answers = trimRecallResults(found, (call.roomTokens ?? 0) - this.#recall.countTokens(sent));
    trace.recalls = (trace.recalls ?? 0) + answers.length;
    for (const { call, text } of answers) this.#notes.push(describeCall(call, text));
    this.#elements = [...sent, ...this.format.encodeResults(answers)];
    const { healed } = call;
    const result = await sendRound(this.#exchange, this.#elements);
    if (call.healed > healed) this.#windowRound = this.#count;
    if (!result.refusal || this.hasText || !isRequestFailure(result.refusal.failure)) return result;
    return this.#sendPlain(result);
  }

  /** If no text was sent so far, repeats the request without the gateway's tools. */
  async #sendPlain({ response }: UpstreamResult): Promise<UpstreamResult> {
    response.body.destroy();
    this.#recall.drop();
    this.#elements = [];
    return sendRound(this.#exchange, []);
  }

  /** Adds a note about the hidden rounds to the session, and remembers the actual end of the reply. */
  async end(): Promise<void> {
    const { thread, services } = this.#exchange;
    const end = this.bodies.length > 0 ? this.format.findEnd(this.bodies) : this.stream.end;
    if (end) thread.recall.hiddenEnds.set(end.shown, end);
    if (this.#notes.length === 0) return;
    const text = `Recalled for the reply before this, unseen by the client:\n${this.#notes.join("\n")}`;
    const stored = services.config().redact ? redactSecrets(text).text : text;
    await thread.conversation.runInTurn(() => thread.session.note(stored));
  }
}

/** A saved text is left out of the note, so that it is gone once the memory is forgotten. */
function describeCall({ name, input }: RecallCallResult["call"], text: string): string {
  if (name === SAVE_TOOL) return `${name}: ${text.split("\n", 1)[0]}`;
  return `${name} ${JSON.stringify(input).slice(0, 300)}: ${text.length} characters`;
}
