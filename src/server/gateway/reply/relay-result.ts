import { computeReportCost, type ModelFactsLookup } from "../../../kernel/faces/window.ts";
import type { EntryId, Kernel, MessageInput, Usage } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import type { ReplyReader, Wire, WireObject } from "../../../wire/wire.ts";
import { type NameReply, ReplyRecorder } from "../call/reply-recorder.ts";
import type { Exchange, ReplyRelay } from "../exchange/exchange-state.ts";
import { buildCanonicalKey } from "../identity/canonical-key.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import { parseElement } from "../request/request-messages.ts";
import { hideStreamUsage } from "../request/stream-usage.ts";
import type { ResponsePlace } from "../thread/response-ids.ts";
import { createSummaryInserter, findNewSummary, type SummaryInserter } from "./answer-with-summary.ts";
import { findAppliedEdits, withAppliedEdits } from "./applied-edits.ts";
import { settleSpending } from "./record-reply.ts";
import { relayReply, sendWholeBody } from "./relay/relay-reply.ts";
import type { UpstreamResult } from "./relay/upstream-refusal.ts";
import { CallRounds } from "./rounds/call-rounds.ts";
import { relayRounds } from "./rounds/relay-rounds.ts";

/** Relays the final response of an upstream, and records the reply if there is one. */
export async function relayResult(exchange: Exchange, result: UpstreamResult): Promise<void> {
  const { incoming, services, trace, request, call, recall } = exchange;
  const { response, refusal } = result;
  if (refusal?.raw) {
    trace.status = response.status;
    trace.ending = "refused";
    exchange.failure = refusal.failure;
    // The client may repeat its request at another gateway.
    await call.thread.progress.recordUnanswered().catch(services.onStoreFailure);
    sendWholeBody(incoming.response, response, refusal.raw);
    return;
  }
  const hasRounds = recall?.hasTools || recall?.servesMemory;
  const rounds = hasRounds ? new CallRounds(exchange, recall) : undefined;
  const { api } = request;
  const reader = rounds ? createMergedReader(api, services.kernel, rounds) : api.createReader();
  call.overheadMs = trace.overheadMs;
  const recorder = new ReplyRecorder(call.thread.session, reader, call, {
    name: request.fields.isStoredByProvider ? createReplyNamer(exchange, rounds) : undefined,
    onReported: incoming.spending && (() => settleSpending(exchange)),
  });
  const reply = await prepareReply(exchange, recorder);
  exchange.reply = reply;
  if (rounds) await relayRounds(exchange, reply, response, rounds);
  else await relayReply(exchange, reply, response);
}

/** The changes to a reply: the usage that the client may see, and the edits and the summary that it asked for. */
async function prepareReply(
  { incoming, services, target, thread, call, recall, asksUsage }: Exchange,
  recorder: ReplyRelay["recorder"],
): Promise<ReplyRelay> {
  // Edits and additions must not make a client believe that its own window is full.
  const isChanged = call.isEditable || recall !== undefined;
  const { clientModel, isMillion } = target;
  const maxTokens = isChanged ? services.modelLimits.getWindow(clientModel, isMillion) : undefined;
  const text = call.request.edits && findNewSummary(call);
  const { last } = call.content;
  const isShown = text !== undefined && last !== undefined;
  // The summary is stored before the client gets it.
  if (isShown) await services.compactions.store(incoming.principal, text, thread, last);
  const summary = isShown ? createSummaryInserter(text) : undefined;
  return {
    recorder,
    maxTokens,
    change: asksUsage ? hideStreamUsage : call.request.edits && createEditReporter(call, summary),
    eventsAfter: summary?.eventsAfter,
  };
}

/** Adds the report that the client asked for to the reply: the edits made, and the summary if there is one. */
function createEditReporter(
  { request: { api, edits, isDryRun }, content: { fitted } }: Exchange["call"],
  summary: SummaryInserter | undefined,
): ReplyRelay["change"] {
  if (!edits || isDryRun) return undefined;
  const applied = findAppliedEdits(edits, fitted?.slots ?? []);
  return (data) => {
    const changed = summary?.change(data);
    return withAppliedEdits(api.name, changed ?? data, applied) ?? changed;
  };
}

/** Records the id of a call's reply, so that a request can continue from it. */
function createReplyNamer(
  { incoming, services, request, thread, call }: Exchange,
  rounds: CallRounds | undefined,
): NameReply {
  const { chain } = call.request;
  const { all } = request.fields;
  const { last } = call.content;
  const principal = incoming.principal.id;
  const isStored = canBeReferenced(request) || chain !== undefined;
  const lead = chain ? [] : readLeadMessages(request, services.stored);
  const key = lead.map(buildCanonicalKey).join(" ");
  const storeItems = async (entry: Promise<EntryId | undefined>, items: readonly WireObject[]) => {
    try {
      const id = await entry;
      if (id !== undefined) await services.storedItems.add(principal, items, thread.session.id, id);
    } catch (error) {
      services.onStoreFailure(error);
    }
  };
  return (response, entry, items) => {
    if (all.store !== false) services.items.add(principal, items);
    const isNamed = all.store !== false && items.length > 0;
    const itemsStored = isNamed ? storeItems(entry, items) : undefined;
    const known = thread.sent.storedLead;
    const storedResponse = known?.key === key ? known.response : response;
    const leadResponse = chain ? chain.lead : lead.length === 0 ? undefined : storedResponse;
    if (leadResponse === response && isStored) thread.sent.storedLead = { key, response };
    const isLeadStored = leadResponse !== response || isStored;
    const place = entry.then((id): ResponsePlace | undefined => {
      const afterEntry = id ?? last;
      if (afterEntry === undefined) return undefined;
      return {
        session: thread.session.id,
        entry: afterEntry,
        isWhole: id !== undefined && isLeadStored && (chain?.isWhole ?? true) === true,
        ...dropUndefined({ lead: leadResponse, hidden: rounds?.hiddenEnd }),
      };
    });
    const placeStored = services.responses.add(principal, response, {
      place,
      isStored,
      ...(leadResponse === response && { lead }),
    });
    return Promise.all([placeStored, itemsStored]).then(() => undefined);
  };
}

/** False for a client that stores nothing and repeats all messages itself, which never refers to a reply. */
function canBeReferenced({ messages, fields }: ParsedRequest): boolean {
  return fields.all.store !== false || !messages.list.some(({ role }) => role === "assistant");
}

/** Instructions among the items of a request: not part of the messages, but a chain continues from them. */
function readLeadMessages(
  { api, messages: { cut, lead } }: ParsedRequest,
  stored: Exchange["services"]["stored"],
): readonly MessageInput[] {
  const elements = Array.from({ length: lead }, (_, index) => parseElement(cut, index));
  return api.decode(elements).map(({ input }) => stored(input, buildCanonicalKey(input)));
}

/**
 * A reader of the reply that the client sees for several rounds. Its usage is that of the first round sent with the
 * current window, with the output tokens and cost of all rounds; the prompts of the others are other calls.
 */
function createMergedReader(
  api: Wire,
  kernel: Pick<Kernel, "modelFacts">,
  rounds: { readonly usages: readonly WireObject[]; readonly windowRound: number },
): ReplyReader {
  const reader = api.createReader();
  const get = (): Usage | undefined => {
    const { usages, windowRound } = rounds;
    if (usages.length <= 1) return reader.usage;
    const reports = usages.map((usage) => api.parseUsage(usage));
    return sumUsage(reports, windowRound, reader.model, (model) => kernel.modelFacts(model));
  };
  return new Proxy(reader, {
    get(target, name) {
      if (name === "usage") return get();
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function sumUsage(
  rounds: readonly (Usage | undefined)[],
  windowRound: number,
  model: string | undefined,
  factsOf: ModelFactsLookup,
): Usage | undefined {
  const usages = rounds.filter((usage) => usage !== undefined);
  const first = rounds[windowRound] ?? usages[0];
  if (!first) return undefined;
  const output = usages.map(({ outputTokens }) => outputTokens ?? 0);
  const costs = usages.map((usage) => computeReportCost({ usage, ...dropUndefined({ model }) }, factsOf));
  const isPriced = costs.every((cost) => cost !== undefined);
  const otherCalls = usages.flatMap((usage) => {
    const { outputTokens: _, reasoningTokens: __, otherCalls: own = [], ...prompt } = usage;
    return usage === first ? own : [prompt, ...own];
  });
  return {
    ...first,
    otherCalls,
    outputTokens: output.reduce((sum, tokens) => sum + tokens, 0),
    ...(isPriced && { cost: costs.reduce((sum, cost) => sum + cost, 0) }),
  };
}
