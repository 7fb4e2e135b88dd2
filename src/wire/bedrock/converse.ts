import { isUtf8 } from "node:buffer";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { FaultError } from "../fault-error.ts";
import { toArray, toNumber, toObject, toText } from "../fields.ts";
import type { WireObject } from "../wire.ts";

/** A request to Bedrock's Converse as one to its invoke. */
interface InvokeRequest {
  /** The body in the form of Anthropic's Messages. */
  readonly body: WireObject;
  /** Settings that Converse has in the body, and invoke in headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** Further fields of Messages that the reply must contain. */
  readonly replyFields: readonly string[];
}

const VERSION = "bedrock-2023-05-31";

const FIELDS = [
  ...["messages", "system", "inferenceConfig", "toolConfig", "additionalModelRequestFields", "outputConfig"],
  ...["additionalModelResponseFieldPaths", "performanceConfig", "serviceTier", "requestMetadata"],
];

/** Fields that a client may set in both places. */
const SHARED_FIELDS = ["anthropic_version", "tools", "output_config"];

/** Parts of Converse that Messages lacks, with the way that works. */
const REMEDIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    guardrailConfig: "/model/MODEL/invoke takes a guardrail in its headers X-Amzn-Bedrock-Guardrail…",
    guardContent: "send it as text to /model/MODEL/invoke, which takes a guardrail in its headers",
    promptVariables: "fill in the prompt and send it as messages",
    s3Location: "send the bytes",
    textFormat: "set additionalModelRequestFields.output_config.format",
    systemTool: "declare the tool in additionalModelRequestFields.tools",
  }),
);

/** Models of other makers have the name of the maker before a dot. */
const FOREIGN_MODEL = /(?:^|\/)(?!.*\banthropic\.)(?:[a-z0-9-]+\.)+[a-z][\w.-]*(?::\d+)*$/;
const STORED_PROMPT = /^arn:[^/]*:prompt\//;

/** Throws `FaultError` for a model that Anthropic's Messages cannot reach. */
export function checkConverseModel(model: string): void {
  const isPrompt = STORED_PROMPT.test(model);
  if (!isPrompt && !FOREIGN_MODEL.test(model)) return;
  const message = isPrompt
    ? "The gateway cannot read stored prompts: name the model, and send the prompt as messages."
    : "The gateway serves Converse for Anthropic's models only, as anthropic.claude-…: set the client of this model to Bedrock itself (docs/gateway.md).";
  throw new FaultError({ status: 501, kind: "invalid_request", message });
}

/**
 * Translates the body of a request to Converse. `maxTokens` applies where the request sets no limit, which Messages
 * demands. Throws `FaultError` for everything that Messages has no place for, so that nothing is lost unseen.
 */
export function toInvokeRequest(request: WireObject | undefined, maxTokens: number): InvokeRequest {
  if (!request) throw refuse("its body is no JSON object");
  const converse = readObject(request, "the request", FIELDS);
  const { performanceConfig, serviceTier, requestMetadata } = converse;
  const { tools, toolChoice } = readObject(converse.toolConfig, "toolConfig", ["tools", "toolChoice"]);
  const more = readObject(converse.additionalModelRequestFields, "additionalModelRequestFields");
  const { effort } = readObject(converse.outputConfig, "outputConfig", ["effort"]);
  const { latency } = readObject(performanceConfig, "performanceConfig", ["latency"]);
  const { type: tier } = readObject(serviceTier, "serviceTier", ["type"]);
  const own = dropUndefined({
    anthropic_version: more.anthropic_version ?? VERSION,
    ...readInference(converse.inferenceConfig),
    tools: toTools(tools, more.tools),
    tool_choice: toToolChoice(toolChoice),
    output_config: effort === undefined ? undefined : { ...toObject(more.output_config), effort },
    system: converse.system ? toBlocks(converse.system, "system") : undefined,
  });
  const taken = ["messages", "model", ...Object.keys(own)].filter((name) => !SHARED_FIELDS.includes(name));
  const repeated = taken.find((name) => Object.hasOwn(more, name));
  if (repeated !== undefined)
    throw refuse(`additionalModelRequestFields.${repeated} is a field that Converse has itself`);
  return {
    body: {
      max_tokens: maxTokens,
      ...more,
      ...own,
      messages: readList(converse.messages, "messages").map(toMessage),
    },
    headers: dropUndefined({
      "X-Amzn-Bedrock-PerformanceConfig-Latency": toHeader(latency, "performanceConfig"),
      "X-Amzn-Bedrock-Service-Tier": toHeader(tier, "serviceTier"),
      "X-Amzn-Bedrock-Request-Metadata": toHeader(requestMetadata, "requestMetadata"),
    }),
    replyFields: readFieldPaths(converse.additionalModelResponseFieldPaths),
  };
}

function toHeader(value: unknown, place: string): string | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (/^[ -~]*$/.test(text)) return text;
  throw refuse(`${place} goes into a header, and may have ASCII characters only`);
}

function readFieldPaths(value: unknown): readonly string[] {
  return readList(value ?? [], "additionalModelResponseFieldPaths").map((path) => {
    const [, name] = /^\/([^/~]+)$/.exec(String(path)) ?? [];
    if (name !== undefined) return name;
    throw refuse("additionalModelResponseFieldPaths may name whole fields only, such as /stop_sequence");
  });
}

function readInference(value: unknown): WireObject {
  const known = ["maxTokens", "temperature", "topP", "stopSequences"];
  const { maxTokens, temperature, topP, stopSequences } = readObject(value, "inferenceConfig", known);
  return { max_tokens: maxTokens, temperature, top_p: topP, stop_sequences: stopSequences };
}

function toTools(value: unknown, more: unknown): readonly WireObject[] | undefined {
  const tools: WireObject[] = [];
  for (const [kind, tool] of readUnions(value ?? [], "toolConfig.tools")) {
    if (kind === "cachePoint") markLast(tools, tool, "toolConfig.tools");
    else if (kind === "toolSpec") {
      const known = ["name", "description", "inputSchema", "strict"];
      const { name, description, inputSchema, strict } = readObject(tool, "toolSpec", known);
      const { json } = readObject(inputSchema, "inputSchema", ["json"]);
      tools.push(dropUndefined({ name, description, input_schema: json, strict }));
    } else throw refuseKind(kind, "toolConfig.tools");
  }
  const all = [...tools, ...(toArray(more) as readonly WireObject[])];
  return all.length > 0 ? all : undefined;
}

function toToolChoice(value: unknown): WireObject | undefined {
  if (value === undefined) return undefined;
  const [[kind, choice] = ["", undefined]] = readUnions([value], "toolConfig.toolChoice");
  if (kind === "auto" || kind === "any") return { type: kind };
  if (kind === "tool") return { type: kind, name: readObject(choice, "toolChoice.tool", ["name"]).name };
  throw refuseKind(kind, "toolConfig.toolChoice");
}

function toMessage(value: unknown, index: number): WireObject {
  const place = `messages[${index}]`;
  const { role, content } = readObject(value, place, ["role", "content"]);
  return { role, content: toBlocks(content, place) };
}

function toBlocks(value: unknown, place: string): readonly WireObject[] {
  const blocks: WireObject[] = [];
  for (const [kind, block] of readUnions(value, place)) {
    if (kind === "cachePoint") markLast(blocks, block, place);
    else blocks.push(toBlock(kind, block, place));
  }
  return blocks;
}

/** A cache point stands after the block that Messages marks. */
function markLast(blocks: WireObject[], value: unknown, place: string): void {
  const { ttl } = readObject(value, "cachePoint", ["type", "ttl"]);
  const last = blocks.pop();
  if (!last) throw refuse(`${place} begins with a cachePoint, which must follow the content that it ends`);
  blocks.push({ ...last, cache_control: { type: "ephemeral", ...dropUndefined({ ttl }) } });
}

function toBlock(kind: string, value: unknown, place: string): WireObject {
  switch (kind) {
    case "text":
      return { type: "text", text: value };
    case "image": {
      const { format, source } = readObject(value, kind, ["format", "source"]);
      const { bytes: data } = readObject(source, "image.source", ["bytes"]);
      return { type: "image", source: { type: "base64", media_type: `image/${format}`, data } };
    }
    case "document":
      return toDocument(value);
    case "toolUse": {
      const { toolUseId: id, name, input } = readObject(value, kind, ["toolUseId", "name", "input"]);
      return { type: "tool_use", id, name, input };
    }
    case "toolResult":
      return toToolResult(value);
    case "reasoningContent":
      return toThinking(value);
    default:
      throw refuseKind(kind, place);
  }
}

function toDocument(value: unknown): WireObject {
  const known = ["format", "name", "source", "context"];
  const { format, name: title, source, context } = readObject(value, "document", known);
  const [[kind, data] = ["", undefined]] = readUnions([source], "document.source");
  const named = dropUndefined({ title, context });
  if (kind === "content")
    return { type: "document", source: { type: kind, content: toTexts(data) }, ...named };
  if (kind !== "bytes" && kind !== "text") throw refuseKind(kind, "document.source");
  if (kind === "bytes" && format === "pdf")
    return { type: "document", source: { type: "base64", media_type: "application/pdf", data }, ...named };
  const text = kind === "text" ? data : decodeText(data, format);
  return { type: "document", source: { type: "text", media_type: "text/plain", data: text }, ...named };
}

function decodeText(base64: unknown, format: unknown): string {
  const bytes = Buffer.from(String(base64), "base64");
  if (/^(?:txt|md|csv|html)$/.test(String(format)) && isUtf8(bytes)) return bytes.toString("utf8");
  throw refuse(`a document of the format ${format} must be sent as pdf, or as text in UTF-8`);
}

function toTexts(value: unknown): readonly WireObject[] {
  return readUnions(value, "content").map(([kind, text]) => {
    if (kind !== "text") throw refuseKind(kind, "content");
    return { type: "text", text };
  });
}

function toToolResult(value: unknown): WireObject {
  const known = ["toolUseId", "content", "status"];
  const { toolUseId, content, status } = readObject(value, "toolResult", known);
  const blocks = readUnions(content, "toolResult").map(([kind, block]) =>
    kind === "json" ? { type: "text", text: JSON.stringify(block) } : toBlock(kind, block, "toolResult"),
  );
  const isFailed = status === "error" && { is_error: true };
  return { type: "tool_result", tool_use_id: toolUseId, content: blocks, ...isFailed };
}

function toThinking(value: unknown): WireObject {
  const [[kind, content] = ["", undefined]] = readUnions([value], "reasoningContent");
  if (kind === "redactedContent") return { type: "redacted_thinking", data: content };
  if (kind !== "reasoningText") throw refuseKind(kind, "reasoningContent");
  const { text, signature } = readObject(content, "reasoningText", ["text", "signature"]);
  return { type: "thinking", thinking: text ?? "", ...dropUndefined({ signature }) };
}

/** Objects with one member each, as the names and values of the members. */
function readUnions(value: unknown, place: string): readonly (readonly [kind: string, value: unknown])[] {
  return readList(value, place).map((one) => {
    const [member, ...others] = Object.entries(readObject(one, place));
    if (!member || others.length > 0) throw refuse(`${place} has an entry without exactly one member`);
    return member;
  });
}

function readList(value: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(value)) throw refuse(`${place} is no list`);
  return value;
}

/** The fields of an optional object that are not null. Throws for fields other than the known ones, if those are given. */
function readObject(value: unknown, place: string, known?: readonly string[]): WireObject {
  const object = toObject(value ?? {});
  if (!object) throw refuse(`${place} is no object`);
  const given = Object.entries(object).filter(([, field]) => field !== null);
  const [other] = given.find(([name]) => known?.includes(name) === false) ?? [];
  if (other !== undefined) throw refuseKind(other, place);
  return Object.fromEntries(given);
}

function refuseKind(kind: string, place: string): FaultError {
  const remedy = REMEDIES.get(kind) ?? "send the request to /model/MODEL/invoke in Anthropic's own form";
  return refuse(
    `${place} has ${JSON.stringify(kind.slice(0, 80))}, which Messages has no place for: ${remedy}`,
  );
}

function refuse(problem: string): FaultError {
  const message = `The gateway sends Converse on as Anthropic's Messages, and cannot translate this request: ${problem} (docs/gateway.md).`;
  return new FaultError({ status: 400, kind: "invalid_request", message });
}

/** Facts about a reply that are not in its body. */
export interface ReplyFacts {
  readonly replyFields: readonly string[];
  readonly startedMs: number;
}

/** One event of Converse's stream. */
interface ConverseEvent {
  readonly name: string;
  readonly payload: WireObject;
}

/**
 * Translates a reply of Anthropic's Messages. Throws `FaultError` for a part that Converse has no place for, and for
 * anything but a reply.
 */
export function toConverseReply(message: WireObject, facts: ReplyFacts): WireObject {
  if (!Array.isArray(message.content)) throw refuseReply("no content");
  const content = message.content.map(toContentBlock);
  return { output: { message: { role: "assistant", content } }, ...endReply(message, facts) };
}

/** The end of a reply: why it stopped, the further fields that the client asked for, and its usage. */
function endReply(message: WireObject, { replyFields, startedMs }: ReplyFacts) {
  const { stop_reason: reason } = message;
  const more = replyFields.flatMap((name) => (Object.hasOwn(message, name) ? [[name, message[name]]] : []));
  return {
    stopReason: reason === "refusal" ? "content_filtered" : reason,
    ...(more.length > 0 && { additionalModelResponseFields: Object.fromEntries(more) }),
    usage: toConverseUsage(toObject(message.usage) ?? {}),
    metrics: { latencyMs: Math.round(performance.now() - startedMs) },
  };
}

function toContentBlock(value: unknown): WireObject {
  const block = toObject(value) ?? {};
  const { type } = block;
  if (type === "text" && toArray(block.citations).length === 0) return { text: block.text };
  if (type === "tool_use") return { toolUse: { toolUseId: block.id, name: block.name, input: block.input } };
  if (type === "redacted_thinking") return { reasoningContent: { redactedContent: block.data } };
  if (type !== "thinking") throw refuseReply(`a part of the type ${type}`);
  const reasoningText = dropUndefined({ text: block.thinking, signature: toText(block.signature) });
  return { reasoningContent: { reasoningText } };
}

function refuseReply(found: string): FaultError {
  return createFailure(
    `The reply has ${found}, which Converse has no place for: ask /model/MODEL/invoke instead (docs/gateway.md).`,
  );
}

function createFailure(message: string): FaultError {
  return new FaultError({ status: 424, kind: "invalid_request", message });
}

function toConverseUsage(usage: WireObject): WireObject {
  const [input, output] = [toNumber(usage.input_tokens) ?? 0, toNumber(usage.output_tokens) ?? 0];
  const cacheReadInputTokens = toNumber(usage.cache_read_input_tokens);
  const cacheWriteInputTokens = toNumber(usage.cache_creation_input_tokens);
  const written = toObject(usage.cache_creation) ?? {};
  const cacheDetails = ["5m", "1h"].flatMap((ttl) => {
    const inputTokens = toNumber(written[`ephemeral_${ttl}_input_tokens`]) ?? 0;
    return inputTokens > 0 ? [{ ttl, inputTokens }] : [];
  });
  return {
    inputTokens: input,
    outputTokens: output,
    totalTokens: input + output + (cacheReadInputTokens ?? 0) + (cacheWriteInputTokens ?? 0),
    ...dropUndefined({ cacheReadInputTokens, cacheWriteInputTokens }),
    ...(cacheDetails.length > 0 && { cacheDetails }),
  };
}

/** Translates the events of a stream of Anthropic's Messages. */
export class ConverseEvents {
  readonly #facts: ReplyFacts;
  /** The reply without its content. */
  #message: WireObject = {};

  constructor(facts: ReplyFacts) {
    this.#facts = facts;
  }

  /** The events for one event of Messages. Throws `FaultError` for content that Converse has no place for. */
  take(event: WireObject): readonly ConverseEvent[] {
    const contentBlockIndex = event.index;
    switch (event.type) {
      case "message_start":
        this.#message = toObject(event.message) ?? {};
        return [{ name: "messageStart", payload: { role: "assistant" } }];
      case "content_block_start":
        return startBlock(toObject(event.content_block) ?? {}, contentBlockIndex);
      case "content_block_delta":
        return [buildDelta(toDelta(toObject(event.delta) ?? {}), contentBlockIndex)];
      case "content_block_stop":
        return [{ name: "contentBlockStop", payload: { contentBlockIndex } }];
      case "message_delta": {
        const usage = { ...toObject(this.#message.usage), ...toObject(event.usage) };
        this.#message = { ...this.#message, ...toObject(event.delta), usage };
        return [];
      }
      case "message_stop": {
        const { usage, metrics, ...stop } = endReply(this.#message, this.#facts);
        return [
          { name: "messageStop", payload: stop },
          { name: "metadata", payload: { usage, metrics } },
        ];
      }
      case "error":
        throw createFailure(toConverseError(JSON.stringify(event)).message);
      default:
        return [];
    }
  }
}

/** The begin of a block. Only calls have an event for it; content that is there already comes as a delta. */
function startBlock(block: WireObject, contentBlockIndex: unknown): readonly ConverseEvent[] {
  const { toolUse, text = "", reasoningContent } = toContentBlock(block);
  if (toolUse) {
    const { toolUseId, name, input } = toObject(toolUse) ?? {};
    const payload = { start: { toolUse: { toolUseId, name } }, contentBlockIndex };
    const begun = { name: "contentBlockStart", payload };
    if (Object.keys(toObject(input) ?? {}).length === 0) return [begun];
    return [begun, buildDelta({ toolUse: { input: JSON.stringify(input) } }, contentBlockIndex)];
  }
  const { reasoningText, redactedContent } = toObject(reasoningContent) ?? {};
  const thought = toObject(reasoningText)?.text ?? "";
  if (redactedContent) return [buildDelta({ reasoningContent: { redactedContent } }, contentBlockIndex)];
  if (text === "" && thought === "") return [];
  return [buildDelta(text === "" ? { reasoningContent: { text: thought } } : { text }, contentBlockIndex)];
}

function buildDelta(delta: WireObject, contentBlockIndex: unknown): ConverseEvent {
  return { name: "contentBlockDelta", payload: { delta, contentBlockIndex } };
}

function toDelta(delta: WireObject): WireObject {
  switch (delta.type) {
    case "text_delta":
      return { text: delta.text };
    case "input_json_delta":
      return { toolUse: { input: delta.partial_json } };
    case "thinking_delta":
      return { reasoningContent: { text: delta.thinking } };
    case "signature_delta":
      return { reasoningContent: { signature: delta.signature } };
    default:
      throw refuseReply(`a part of the type ${delta.type}`);
  }
}

/** The names that Bedrock has for errors, by their status. */
const EXCEPTIONS: Readonly<Record<number, string>> = {
  401: "UnrecognizedClientException",
  403: "AccessDeniedException",
  404: "ResourceNotFoundException",
  408: "ModelTimeoutException",
  424: "ModelErrorException",
  429: "ThrottlingException",
  503: "ServiceUnavailableException",
  504: "ModelTimeoutException",
  529: "ServiceUnavailableException",
};

/** The name of an error, for a reply that has none. */
export function getExceptionName(status: number): string {
  const isOfClient = status < 500 || status === 501;
  return EXCEPTIONS[status] ?? (isOfClient ? "ValidationException" : "InternalServerException");
}

/** The body of an error, made from one in the form of Messages or of Bedrock. */
export function toConverseError(text: string): { readonly message: string } {
  try {
    const body = toObject(JSON.parse(text)) ?? {};
    const { message = body.message ?? body.Message } = toObject(body.error) ?? {};
    return { message: toText(message) ?? text };
  } catch {
    return { message: text };
  }
}

/** Parses JSON like `JSON.parse`, but numbers of many digits keep them when they are written again. */
export function parseExactly(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  return JSON.parse(text, (_, value: unknown, context?: { readonly source?: string }) =>
    typeof value === "number" && String(value) !== context?.source ? rawJSON(context?.source ?? "") : value,
  );
}
