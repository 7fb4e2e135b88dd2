import type { ConversationScope } from "../../../../kernel/calls/project-conversations.ts";
import type { AgentMemory } from "../../../../kernel/faces/memory.ts";
import { estimateText } from "../../../../kernel/faces/window.ts";
import type { EntryId, SessionId } from "../../../../kernel/index.ts";
import { dropUndefined } from "../../../../model/base/drop-undefined.ts";
import { runWithTimeLimit } from "../../../../model/base/time-limit.ts";
import { redactSecrets } from "../../../../model/secrets/redact-secrets.ts";
import { toNumber, toText } from "../../../../wire/fields.ts";
import type { WireName, WireObject } from "../../../../wire/wire.ts";
import type { Exchange, RequestRecall } from "../../exchange/exchange-state.ts";
import { getMemoryAgent } from "../../identity/person-ids.ts";
import { MEMORY_TOOL, runMemoryCall } from "../../recall/offer-tools.ts";
import { buildPersonScope, listConversations } from "../../recall/person-scope.ts";
import { EXPAND_TOOL, isRecallTool, MAX_RESULTS, SAVE_TOOL } from "../../recall/recall-tools.ts";
import { findShownEntries } from "../../recall/shown-content.ts";
import type { HiddenEnd } from "../../request/chain.ts";
import type { UpstreamResult } from "../relay/upstream-refusal.ts";
import { sendRound } from "../send-until-accepted.ts";
import { createAnthropicRounds } from "./anthropic-rounds.ts";
import { chatRounds } from "./chat-rounds.ts";
import { googleRounds } from "./google-rounds.ts";
import { responsesRounds } from "./responses-rounds.ts";
import { isRequestFailure } from "./round-failure.ts";
import type { RecallCall, RecallCallResult, RecallRound, RoundFormat, StreamMerger } from "./round-format.ts";

/** Maximum number of rounds after the first of a reply. */
const MAX_RECALL_ROUNDS = 4;

/** The same for replies in which the model works with files of memories. */
const MAX_MEMORY_ROUNDS = 16;

/** The rounds that the client sees as one reply: carries out the calls of each round and sends the next. */
export class CallRounds {
  readonly format: RoundFormat;
  readonly maxRounds: number;
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
    const { servesMemory } = recall;
    this.format = servesMemory ? MEMORY_ROUNDS : ROUND_FORMATS[exchange.request.api.name];
    this.maxRounds = servesMemory ? MAX_MEMORY_ROUNDS : MAX_RECALL_ROUNDS;
    this.stream = this.format.openStream(this.maxRounds);
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
    const { trace, call } = this.#exchange;
    const isLast = ++this.#count >= this.maxRounds;
    const sent = [...this.#elements, ...elements];
    const found = await this.#run(calls, isLast);
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

  #run(calls: readonly RecallCall[], isLast: boolean): Promise<readonly RecallCallResult[]> {
    const { incoming, services, thread, call } = this.#exchange;
    const { principal, signal } = incoming;
    const { kernel } = services;
    const agent = getMemoryAgent(principal);
    const { project } = thread.meta;
    const session = thread.session.id;
    return runRecallCalls(calls, {
      memory: thread.recall.getMemory(kernel, agent, buildPersonScope(principal)),
      findInProject: async () =>
        project === undefined ? undefined : listConversations(kernel, principal, project),
      runMemoryCall: (input) =>
        runMemoryCall({ memories: kernel.memories(agent), source: session, project }, input),
      session,
      findShown: () => findShownEntries(call),
      signal,
      isLast,
    });
  }

  /** If no text was sent so far, repeats the request without the gateway's tools. */
  async #sendPlain({ response }: UpstreamResult): Promise<UpstreamResult> {
    response.body.destroy();
    await this.#recall.drop();
    this.#elements = [];
    return sendRound(this.#exchange, []);
  }

  /** The end of the reply, if the client does not see all of it. */
  get hiddenEnd(): HiddenEnd | undefined {
    return this.bodies.length > 0 ? this.format.findEnd(this.bodies) : this.stream.end;
  }

  /** Adds a note about the hidden rounds to the session. */
  async end(): Promise<void> {
    const { thread, services } = this.#exchange;
    const last = this.bodies.at(-1);
    const left = last ? this.format.readBody(last).calls : this.stream.leftCalls;
    // The model called other tools too: it gets no result, but a file that it saved must not be lost.
    const saved = (left ?? []).filter(({ name }) => name === MEMORY_TOOL);
    for (const { call, text } of await this.#run(saved, true)) this.#notes.push(describeCall(call, text));
    if (this.#notes.length === 0) return;
    const text = `Recalled for the reply before this, unseen by the client:\n${this.#notes.join("\n")}`;
    const stored = services.config().redact ? redactSecrets(text).text : text;
    await thread.conversation.runInTurn(() => thread.session.note(stored));
  }
}

/** A saved text is left out of the note, so that it is gone once the memory is forgotten. */
function describeCall({ name, input }: RecallCallResult["call"], text: string): string {
  if (name === SAVE_TOOL || name === MEMORY_TOOL) return `${name}: ${text.split("\n", 1)[0]}`;
  return `${name} ${JSON.stringify(input).slice(0, 300)}: ${text.length} characters`;
}

/** Shorter pieces are useless. */
const MIN_TOKENS = 60;
const NO_ROOM =
  "There is no room left in this conversation for what memory holds; answer with what you have.";
const CUT = "\n[the rest was cut, for there is no more room in this conversation]";

/** Cuts the answers to `roomTokens` in total, as far as possible, starting with the last. */
export function trimRecallResults(
  answers: readonly RecallCallResult[],
  roomTokens: number,
): readonly RecallCallResult[] {
  let left = roomTokens;
  return answers.map((answer, index) => {
    const tokens = estimateText(answer.text);
    const others = (answers.length - index - 1) * MIN_TOKENS;
    if (tokens <= left - others) {
      left -= tokens;
      return answer;
    }
    const text = cutText(answer.text, tokens, left - others);
    left -= estimateText(text);
    return { ...answer, text };
  });
}

function cutText(text: string, tokens: number, most: number): string {
  const limits = most - estimateText(CUT);
  if (limits < MIN_TOKENS) return NO_ROOM;
  let kept = text.slice(0, Math.floor((text.length * limits) / tokens));
  // Token density varies across text.
  while (estimateText(kept) > limits) kept = kept.slice(0, Math.floor(kept.length * 0.9));
  return `${kept.toWellFormed()}${CUT}`;
}

/**
 * Limits of one round: calls carried out, and time for all of them together. The first recall of a process loads the
 * embedder and parts of the index, which takes long on a busy machine.
 */
const MAX_CALLS = 8;
const TIMEOUT_MS = 30_000;

/** The part of that time reserved for indexing new entries. */
const WAIT_MS = 2_000;

/** The memory to query, and the conversation that queries it. */
interface RecallCallContext {
  readonly memory: Pick<AgentMemory, "recall" | "expand" | "save">;
  /** The conversations of the caller's project; undefined if it is unknown, and everything is searched. */
  readonly findInProject: () => Promise<ConversationScope | undefined>;
  /** Carries out a call of Anthropic's memory tool. */
  readonly runMemoryCall?: (input: WireObject) => Promise<string>;
  /** The conversation, for references that name only an entry of it. */
  readonly session: SessionId;
  /** Entries in the window that the model sees whole. */
  readonly findShown: () => Promise<ReadonlySet<EntryId>>;
  readonly signal: AbortSignal;
  /** True if no further calls of this reply will be carried out. */
  readonly isLast: boolean;
}

/** Carries out the calls of one round. Failures become a sentence for the model; never throws. */
async function runRecallCalls(
  calls: readonly RecallCall[],
  asking: RecallCallContext,
): Promise<readonly RecallCallResult[]> {
  const { signal, isLast } = asking;
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const answers: RecallCallResult[] = [];
  for (const [index, call] of calls.entries()) {
    const text =
      index < MAX_CALLS
        ? ((await runWithTimeLimit({ limitMs: TIMEOUT_MS, signal: deadline }, (late) =>
            runRecallCall(call, asking, late),
          ).catch(() => undefined)) ?? "Memory did not answer; go on without it.")
        : `Not carried out: at most ${MAX_CALLS} at once.`;
    answers.push({
      call,
      text: isLast ? `${text}\nThis was the last time in this reply; answer now.` : text,
    });
  }
  return answers;
}

async function runRecallCall(
  { name, input }: RecallCall,
  asking: RecallCallContext,
  signal: AbortSignal,
): Promise<string> {
  const { memory, session, runMemoryCall } = asking;
  if (name === MEMORY_TOOL && runMemoryCall) return runMemoryCall(input);
  if (name === EXPAND_TOOL) {
    const entry = toText(input.entry) ?? "";
    const from = toNumber(input.from);
    const isWhole = from !== undefined && Number.isInteger(from) && from >= 0;
    return memory.expand(entry.startsWith("#") ? `${session}${entry}` : entry, { ...(isWhole && { from }) });
  }
  if (name === SAVE_TOOL)
    return memory.save(toText(input.text) ?? "", { isQuoted: input.quoted === true, source: session });
  const limit = toNumber(input.limit);
  const k = limit === undefined ? undefined : Math.min(MAX_RESULTS, Math.max(1, Math.round(limit)));
  const shown = await asking.findShown();
  const options = { signal, waitMs: WAIT_MS, shown, ...dropUndefined({ k }) };
  const own = input.where === "everywhere" ? undefined : await asking.findInProject();
  if (!own) return memory.recall(toText(input.query) ?? "", options);
  const found = await memory.recall(toText(input.query) ?? "", { ...options, within: own.scope });
  return own.others === 0
    ? found
    : `${found}\nOnly this project was searched; ${own.others} conversations of other projects were left out (where: "everywhere" includes them).`;
}

/** The round format of each API. */
export const ROUND_FORMATS: Readonly<Record<WireName, RoundFormat>> = {
  anthropic: createAnthropicRounds(isRecallTool),
  "openai-chat": chatRounds,
  "openai-responses": responsesRounds,
  google: googleRounds,
};

/** The rounds of a request whose memory tool the gateway serves. */
const MEMORY_ROUNDS = createAnthropicRounds((name) => isRecallTool(name) || name === MEMORY_TOOL);
