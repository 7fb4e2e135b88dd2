import { dropUndefined } from "../../../../model/base/drop-undefined.ts";
import { parseObject, toArray, toNumber, toObject, toText } from "../../../../wire/fields.ts";
import { CALL_FIELDS } from "../../../../wire/openai-responses/openai-responses-items.ts";
import { StreamItems } from "../../../../wire/openai-responses/stream-items.ts";
import type { WireEvent, WireObject } from "../../../../wire/wire.ts";
import { isRecallTool } from "../../recall/recall-tools.ts";
import type { HiddenEnd } from "../../request/chain.ts";
import {
  buildNamedEvent,
  mergeBodyUsage,
  mergeRoundUsage,
  type RecallCall,
  type RecallCallResult,
  type RecallRound,
  type RoundFormat,
  replaceEventData,
  type StreamMerger,
} from "./round-format.ts";

/** Rounds in OpenAI's Responses API. */
export const responsesRounds: RoundFormat = {
  encodeResults: encodeResponsesResults,
  openStream: (maxRounds) => new ResponsesStreamMerger(maxRounds),
  readBody: (body) => ({
    recallRound: findResponsesRound(getOutputItems(body), body.status ?? "completed"),
    hasText: getOutputItems(body).some(isTextItem),
    usage: toObject(body.usage),
  }),
  mergeBodies(bodies) {
    const [first, ...others] = bodies;
    const last = bodies.at(-1);
    if (!first || !last) return {};
    if (others.length === 0 && !getOutputItems(first).some(isRecallItem)) return removeRecallTools(first);
    const output = bodies.flatMap(getOutputItems).filter((item) => !isRecallItem(item));
    const usage = mergeBodyUsage(bodies);
    const { id, created_at } = first;
    return { ...removeRecallTools(last), id, created_at, output, ...dropUndefined({ usage }) };
  },
  findEnd(bodies) {
    const [shown, last] = [bodies[0], bodies.at(-1)].map((body) => toText(body?.id));
    return buildHiddenEnd(shown, last, listRecallCallIds(getOutputItems(bodies.at(-1) ?? {})));
  },
};

function buildHiddenEnd(
  shown: string | undefined,
  last: string | undefined,
  unanswered: readonly string[],
): HiddenEnd | undefined {
  if (last === undefined || (shown === last && unanswered.length === 0)) return undefined;
  return { last, unanswered };
}

const CLIENT_CALLS: ReadonlySet<unknown> = new Set([
  ...CALL_FIELDS.keys(),
  "function_call",
  "computer_call",
  "mcp_approval_request",
]);

/** True for a call of one of the gateway's tools. */
function isRecallItem({ type, name }: WireObject): boolean {
  return type === "function_call" && isRecallTool(name);
}

/** True for a call that the client must answer. */
function isClientCallItem(item: WireObject): boolean {
  return CLIENT_CALLS.has(item.type) && !isRecallItem(item);
}

/** True for a message item that is not empty. */
function isTextItem({ type, content }: WireObject): boolean {
  return type === "message" && toArray(content).some((part) => toText(toObject(part)?.text) !== undefined);
}

/** The round made of these items, if they call the gateway's tools only. */
function findResponsesRound(items: readonly WireObject[], status: unknown): RecallRound | undefined {
  if (status !== "completed" || items.some(isClientCallItem)) return undefined;
  const calls = items.filter(isRecallItem).flatMap((item): readonly RecallCall[] => {
    const id = toText(item.call_id);
    const input = parseObject(toText(item.arguments) ?? "{}");
    return id === undefined || !input ? [] : [{ id, name: String(item.name), input }];
  });
  return calls.length === 0 ? undefined : { calls, elements: toInput(items) };
}

/**
 * Items of a reply as request input. Reasoning without its encrypted content is known only to a provider that stores
 * replies; it is dropped, and the other items then lose their ids, which would refer to it.
 */
function toInput(items: readonly WireObject[]): readonly WireObject[] {
  const isLost = ({ type, encrypted_content }: WireObject) =>
    type === "reasoning" && toText(encrypted_content) === undefined;
  if (!items.some(isLost)) return items;
  return items.filter((item) => !isLost(item)).map(({ id: _, ...item }) => item);
}

/** Call ids of the gateway's calls among the items. */
function listRecallCallIds(items: readonly WireObject[]): readonly string[] {
  return items.filter(isRecallItem).flatMap(({ call_id }) => toText(call_id) ?? []);
}

/** A response without the gateway's tools; the same object if it lists none. */
function removeRecallTools(response: WireObject): WireObject {
  const tools = toArray(response.tools);
  const isOwn = (tool: unknown) => isRecallTool(toObject(tool)?.name);
  return tools.some(isOwn) ? { ...response, tools: tools.filter((tool) => !isOwn(tool)) } : response;
}

/** The output items of a response. */
function getOutputItems({ output }: WireObject): readonly WireObject[] {
  return toArray(output).flatMap((item) => {
    const fields = toObject(item);
    return fields ? [fields] : [];
  });
}

/** The items with the results of calls. */
function encodeResponsesResults(answers: readonly RecallCallResult[]): readonly WireObject[] {
  return answers.map(({ call, text }) => ({ type: "function_call_output", call_id: call.id, output: text }));
}

const START_EVENTS = ["response.created", "response.in_progress", "response.queued"];
const END_EVENTS = [
  "response.completed",
  "response.done",
  "response.incomplete",
  "response.failed",
  "response.cancelled",
];

/**
 * Joins Responses streams into one: renumbers items and events, and withholds the gateway's calls and the ends of inner
 * rounds.
 */
class ResponsesStreamMerger implements StreamMerger {
  readonly #maxRounds: number;
  readonly #earlierUsages: WireObject[] = [];
  /** Items of earlier rounds that the client has seen. */
  readonly #earlierOutput: WireObject[] = [];
  #items = new StreamItems();
  /** Item indexes that the client sees, by index in this round; undefined for withheld items. */
  #shownIndexes = new Map<number, number | undefined>();
  #recallRound: RecallRound | undefined;
  #usage: WireObject | undefined;
  #firstResponse: WireObject | undefined;
  #lastId: string | undefined;
  #unanswered: readonly string[] = [];
  #hasClientCall = false;
  /** Number of items that the client has seen. */
  #shownCount = 0;
  /** Unfinished items, by index that the client sees. */
  readonly #openItems = new Map<number, WireObject>();
  #sequence = 0;
  hasText = false;
  hasEnded = false;

  constructor(maxRounds: number) {
    this.#maxRounds = maxRounds;
  }

  get usages(): readonly WireObject[] {
    return this.#usage ? [...this.#earlierUsages, this.#usage] : this.#earlierUsages;
  }

  get end(): HiddenEnd | undefined {
    const shown = toText(this.#firstResponse?.id);
    return buildHiddenEnd(shown, this.#lastId ?? shown, this.#unanswered);
  }

  take(event: WireEvent): readonly WireEvent[] {
    if (this.hasEnded) return [];
    const value = parseObject(event.data);
    if (!value) return [event];
    const type = toText(value.type) ?? event.event ?? "";
    const response = toObject(value.response) ?? {};
    if (START_EVENTS.includes(type)) {
      this.#firstResponse ??= response;
      this.#lastId = toText(response.id);
      this.#unanswered = [];
      return this.#isLater
        ? []
        : [this.#toClientEvent(event, value, { response: removeRecallTools(response) })];
    }
    if (END_EVENTS.includes(type)) return this.#takeEnd(event, value, response, type);
    if (type === "error") return (this.#isLater && this.finish()) || [event];
    const index = toNumber(value.output_index);
    return index === undefined
      ? [this.#toClientEvent(event, value)]
      : this.#takeItem(event, value, type, index);
  }

  next(): RecallRound | undefined {
    const recallRound = this.#recallRound;
    if (!recallRound) return undefined;
    this.#earlierUsages.push(this.#usage ?? {});
    for (const item of this.#listShownItems()) this.#earlierOutput.push(item);
    this.#items = new StreamItems();
    this.#shownIndexes = new Map();
    this.#usage = undefined;
    this.#recallRound = undefined;
    this.#unanswered = recallRound.calls.map(({ id }) => id);
    return recallRound;
  }

  finish(): readonly WireEvent[] | undefined {
    const hasOpenNonText = [...this.#openItems.values()].some(({ type }) => type !== "message");
    if (!this.hasText || this.#hasClientCall || hasOpenNonText || this.hasEnded) return undefined;
    this.hasEnded = true;
    const isCut = this.#openItems.size > 0;
    const messages = this.#listShownItems();
    const isOpen = (item: WireObject) => isCut && item.id === undefined;
    const content = messages.find(isOpen)?.content ?? [];
    const incompleteEvents = [...this.#openItems].map(([output_index, item]) => ({
      type: "response.output_item.done",
      output_index,
      item: { ...item, content, status: "incomplete" },
    }));
    const usage = mergeRoundUsage(this.usages);
    const status = isCut ? "incomplete" : "completed";
    const response = {
      ...removeRecallTools(this.#firstResponse ?? {}),
      status,
      ...(isCut && { incomplete_details: { reason: "max_output_tokens" } }),
      output: [
        ...this.#earlierOutput,
        ...messages.filter((item) => !isOpen(item)),
        ...incompleteEvents.map(({ item }) => item),
      ],
      ...dropUndefined({ usage }),
    };
    return [...incompleteEvents, { type: `response.${status}`, response }].map((value) =>
      buildNamedEvent({ ...value, sequence_number: this.#sequence++ }),
    );
  }

  get #isLater(): boolean {
    return this.#earlierUsages.length > 0;
  }

  #listShownItems(): readonly WireObject[] {
    return this.#items.completeItems().filter((item) => !isRecallItem(item));
  }

  #takeItem(event: WireEvent, value: WireObject, type: string, index: number): readonly WireEvent[] {
    const item = toObject(value.item);
    if (item && !this.#shownIndexes.has(index))
      this.#shownIndexes.set(index, isRecallItem(item) ? undefined : this.#shownCount++);
    if (type === "response.output_item.added") this.#items.add(value);
    else if (type === "response.output_item.done") this.#items.finishItem(value);
    else if (type === "response.output_text.delta")
      this.#items.addText(value, "output_text", value.delta, false);
    else if (type === "response.refusal.delta") this.#items.addText(value, "refusal", value.delta, false);
    const shownIndex = this.#shownIndexes.get(index);
    if (shownIndex === undefined)
      return this.#shownIndexes.has(index) ? [] : [this.#toClientEvent(event, value)];
    this.#hasClientCall ||= item !== undefined && isClientCallItem(item);
    this.hasText ||= type === "response.output_text.delta" && toText(value.delta) !== undefined;
    if (item && type === "response.output_item.added") this.#openItems.set(shownIndex, item);
    if (type === "response.output_item.done") this.#openItems.delete(shownIndex);
    return [this.#toClientEvent(event, value, { output_index: shownIndex })];
  }

  #takeEnd(event: WireEvent, value: WireObject, response: WireObject, type: string): readonly WireEvent[] {
    this.#items.replace(response.output);
    this.#usage = toObject(response.usage) ?? this.#usage;
    this.#lastId = toText(response.id) ?? this.#lastId;
    const isComplete = type === "response.completed" || type === "response.done";
    const recallRound = findResponsesRound(this.#items.completeItems(), isComplete ? "completed" : type);
    if (recallRound && this.#earlierUsages.length < this.#maxRounds) {
      this.#recallRound = recallRound;
      return [];
    }
    if (type === "response.failed" && this.#isLater) {
      const ended = this.finish();
      if (ended) return ended;
    }
    this.hasEnded = true;
    const shownResponse = removeRecallTools(response);
    this.#unanswered = listRecallCallIds(this.#items.completeItems());
    if (!this.#isLater && this.#unanswered.length === 0)
      return [this.#toClientEvent(event, value, { response: shownResponse })];
    const listedItems = getOutputItems(response).filter((item) => !isRecallItem(item));
    const shownOutput = listedItems.length > 0 ? listedItems : this.#listShownItems();
    const usage = this.#isLater ? mergeRoundUsage(this.usages) : shownResponse.usage;
    const { id, created_at } = this.#firstResponse ?? response;
    const merged = {
      ...shownResponse,
      id,
      created_at,
      output: [...this.#earlierOutput, ...shownOutput],
      usage,
    };
    return [this.#toClientEvent(event, value, { response: merged })];
  }

  /** An event with the client's sequence number and the given fields; the same object if nothing differs. */
  #toClientEvent(event: WireEvent, value: WireObject, fields: WireObject = {}): WireEvent {
    const sequence = this.#sequence++;
    const changes: WireObject = {
      ...fields,
      ...(value.sequence_number !== undefined && { sequence_number: sequence }),
    };
    const isSame = Object.entries(changes).every(([name, field]) => value[name] === field);
    return isSame ? event : replaceEventData(event, { ...value, ...changes });
  }
}
