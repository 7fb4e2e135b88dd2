import { capOpenaiUsage } from "../openai/cap-openai-usage.ts";
import { toOpenaiError } from "../openai/openai-error.ts";
import { parseOpenaiUsage } from "../openai/parse-openai-usage.ts";
import { readFailureReply, readStreamFailure } from "../replies/read-failure.ts";
import type { EncodedRequest, LoggedContent, Wire, WireFault, WireObject } from "../wire.ts";
import {
  decodeResponses,
  decodeResponsesItems,
  decodeResponsesLead,
  isResponsesLead,
  OPENAI_RESPONSES_NAME,
} from "./decode-responses.ts";
import { encodeResponses } from "./encode-responses.ts";
import { isResponsesItem } from "./openai-responses-content.ts";

export { parseInputItems } from "./decode-responses.ts";

import type { Message, MessageInput } from "../../model/message.ts";
import type { Usage } from "../../model/usage.ts";
import { isEmptyMessage } from "../block-content.ts";
import { toObject, toText } from "../fields.ts";
import type { PartSource } from "../part-source.ts";
import { ReplyAssembly } from "../replies/reply-reader.ts";
import { type RequestTurn, readRequestTurns } from "../request-turns.ts";
import { NO_RESULT } from "../result-marks.ts";
import {
  encodeMessageItems,
  encodeOutputItem,
  encodeResponsesItems,
  getResponsesMeta,
} from "./encode-responses-items.ts";
import { StreamItems } from "./stream-items.ts";

/** The field of a request that an overflow concerns. */
const INPUT_FIELD = "input";

/** OpenAI's Responses API. */
export const openaiResponsesWire: Wire = {
  name: OPENAI_RESPONSES_NAME,
  title: "OpenAI Responses",
  path: "/responses",
  messagesField: INPUT_FIELD,
  leadFields: ["instructions"],
  isMessage: isResponsesItem,
  decodeLead: decodeResponsesLead,
  isLead: isResponsesLead,
  decode: decodeResponses,
  isMessagePerElement: false,
  encodeRequest: encodeResponsesRequest,
  encodeEdited: encodeResponses,
  encodeLogged: encodeLoggedMessage,
  createReader: () => new ResponsesAssembly(),
  parseUsage: (report) => parseOpenaiUsage(report),
  capUsage: capOpenaiUsage,
  parseFailure: readFailureReply,
  encodeFault: (fault) => ({ error: toOpenaiError(fault, INPUT_FIELD) }),
  encodeFaultEvent: encodeResponsesFaultEvent,
};

const isReasoning = ({ type }: WireObject) => type === "reasoning";
const isEncrypted = ({ encrypted_content }: WireObject) => typeof encrypted_content === "string";

/** Items that are meaningless without their id. */
const needsId = ({ type }: WireObject) =>
  ["item_reference", "compaction", "computer_call"].includes(String(type)) ||
  String(type).startsWith("mcp_approval_");

/** Events with reasoning text, which also arrives complete with its item. */
const REASONING_EVENTS = ["response.reasoning_summary_text.delta", "response.reasoning_text.delta"];

/** An error inside a stream, as two events; some clients look for one, some for the other. */
function encodeResponsesFaultEvent(fault: WireFault): string {
  const error = toOpenaiError(fault, INPUT_FIELD);
  const { message, param, type } = error;
  const code = error.code ?? type;
  const failed = {
    object: "response",
    status: "failed",
    error: { code, message },
    incomplete_details: null,
    output: [],
    usage: null,
  };
  return [
    { type: "error", sequence_number: 0, code, message, param, error: { ...error, code } },
    { type: "response.failed", sequence_number: 1, response: { id: "resp_failed", ...failed } },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");
}

/**
 * Encodes a conversation as a request of the Responses API: `{ instructions?, input }`. A failed tool's output begins
 * with "[tool error]". Empty reasoning, reasoning of other formats without OpenAI's ciphertext, and raw parts of other
 * formats are left out.
 */
async function encodeResponsesRequest(
  messages: AsyncIterable<Message>,
  source: PartSource,
): Promise<EncodedRequest> {
  const turns = readRequestTurns(messages, source, OPENAI_RESPONSES_NAME);
  const first = await turns.next();
  const instructions = first.done ? undefined : findInstructions(first.value);
  const elements = async function* (): AsyncGenerator<WireObject> {
    if (!first.done && instructions === undefined) yield* encodeTurn(first.value, source);
    for await (const turn of turns) yield* encodeTurn(turn, source);
  };
  return { lead: instructions === undefined ? {} : { instructions }, elements: elements() };
}

function findInstructions(turn: RequestTurn): string | undefined {
  if (turn.role !== "system" || getResponsesMeta(turn.message).field !== "instructions") return undefined;
  const [only] = turn.pieces;
  return turn.pieces.length === 1 && only?.part.type === "text" ? only.part.text : undefined;
}

async function* encodeTurn(turn: RequestTurn, source: PartSource): AsyncGenerator<WireObject> {
  if (turn.role === "missing") {
    for (const { callId } of turn.calls)
      yield { type: "function_call_output", call_id: callId, output: NO_RESULT };
  } else if (turn.role === "tool") {
    for (const { part, extra } of turn.pieces) yield await encodeOutputItem(part, extra, source);
  } else yield* encodeMessageItems(turn, source);
}

/**
 * The items of a logged message, for a request that does not refer to the provider's stored state. Ids are removed: the
 * provider refuses an item with a known id but without its reasoning. Reasoning is included only if it is encrypted and
 * followed by another item; calls of the provider's own tools cannot be repeated.
 */
async function encodeLoggedMessage(message: Message, bytes: LoggedContent): Promise<readonly WireObject[]> {
  const { loadBase64: base64Of, restore } = bytes;
  const items = await encodeResponsesItems(message, {
    base64: async ({ digest }) => (await base64Of(digest)) ?? "",
    restore: async (part) => (part.type === "blob" ? restore(part) : part),
  });
  const sayable = items.filter((item) => !isProviderCall(item) && (!isReasoning(item) || isEncrypted(item)));
  return sayable
    .filter((item, index) => !isReasoning(item) || hasFollower(sayable.slice(index + 1)))
    .map((item) => (isReasoning(item) || needsId(item) ? item : withoutId(item)));
}

/** True for a call that only the provider carries out, or for its list of tools. */
function isProviderCall({ type, call_id }: WireObject): boolean {
  const name = toText(type) ?? "";
  return (name.endsWith("_call") && call_id === undefined) || name === "mcp_list_tools";
}

/** True if an item other than reasoning follows. */
function hasFollower(later: readonly WireObject[]): boolean {
  return later.some((item) => !isReasoning(item));
}

function withoutId({ id: _, ...item }: WireObject): WireObject {
  return item;
}

/** Reads replies in OpenAI's Responses API. */
class ResponsesAssembly extends ReplyAssembly {
  readonly #items = new StreamItems();
  #response: WireObject = {};
  #hasThought = false;
  isComplete = false;
  stopReason: string | undefined;

  protected override takeEvent(type: string, event: WireObject): void {
    switch (type) {
      case "response.output_item.added":
        this.#items.add(event);
        break;
      case "response.output_item.done":
        this.#items.finishItem(event);
        break;
      case "response.output_text.delta":
        this.#items.addText(event, "output_text", event.delta, false);
        break;
      case "response.output_text.done":
        this.#items.addText(event, "output_text", event.text, true);
        break;
      case "response.refusal.delta":
        this.#items.addText(event, "refusal", event.delta, false);
        break;
      case "response.refusal.done":
        this.#items.addText(event, "refusal", event.refusal, true);
        break;
      case "response.completed":
      case "response.done":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
        this.#end(toObject(event.response) ?? {}, type.slice("response.".length));
        break;
      case "error":
        this.failure = readStreamFailure(event);
        break;
      default:
        if (REASONING_EVENTS.includes(type)) this.#hasThought = true;
        this.#meet(toObject(event.response) ?? {});
    }
  }

  protected override takeBody(body: WireObject): void {
    if (body.object === "response" || Array.isArray(body.output))
      this.#end(body, toText(body.status) ?? "completed");
    else if (body.error !== undefined && body.error !== null) this.failure = readStreamFailure(body);
  }

  message(): MessageInput | undefined {
    const message = decodeResponsesItems("assistant", this.#items.completeItems());
    if (isEmptyMessage(message)) return undefined;
    return this.model === undefined ? message : { ...message, model: this.model };
  }

  items(): readonly WireObject[] {
    return this.#items.completeItems();
  }

  get hasBegun(): boolean {
    return this.#items.hasBegun || this.#hasThought;
  }

  get usage(): Usage | undefined {
    const usage = parseOpenaiUsage(this.#response.usage, this.#response);
    const webSearches = this.items().filter(({ type }) => type === "web_search_call").length;
    return usage && webSearches > 0 ? { ...usage, webSearches } : usage;
  }

  get responseId(): string | undefined {
    return toText(this.#response.id);
  }

  get model(): string | undefined {
    return toText(this.#response.model);
  }

  get diagnosis(): WireObject | undefined {
    return toObject(this.#response.prompt_cache_diagnostics);
  }

  #meet(response: WireObject): void {
    this.#response = { ...this.#response, ...response };
  }

  #end(response: WireObject, status: string): void {
    this.#meet(response);
    this.#items.replace(response.output);
    this.stopReason =
      toText(toObject(response.incomplete_details)?.reason) ?? toText(response.status) ?? status;
    if (status === "failed" || toObject(response.error)) this.failure = readStreamFailure({ response });
    else this.isComplete = ["completed", "done", "incomplete"].includes(status) && this.failure === undefined;
  }
}
