import type { MessageInput } from "../../model/message.ts";
import type { Usage } from "../../model/usage.ts";
import { isEmptyMessage } from "../block-content.ts";
import { omitFields, parseObject, toArray, toNumber, toObject, toText } from "../fields.ts";
import { readStreamFailure } from "../replies/read-failure.ts";
import { ReplyAssembly } from "../replies/reply-reader.ts";
import { parseGoogleUsage } from "../usage/parse-google-usage.ts";
import type { DecodedMessage, Wire, WireObject } from "../wire.ts";
import { decodeGoogleElement } from "./decode-google.ts";
import { googleWire } from "./google-wire.ts";

/**
 * Google's Interactions API: the provider stores the conversation, and a request names the one it continues. Requests are
 * stored and sent unchanged; the elements of `input` are content, turns, or steps.
 */
export const interactionsWire = {
  ...googleWire,
  title: "Google Interactions",
  path: "/interactions",
  messagesField: "input",
  leadFields: ["system_instruction"],
  isSentUnchanged: true,
  isMessage: (element) => typeof element.type === "string" || typeof element.role === "string",
  decodeLead: ({ system_instruction }) =>
    toText(system_instruction) ? [{ role: "system", text: String(system_instruction) }] : [],
  decode: decodeInteraction,
  isMessagePerElement: false,
  createReader: () => new InteractionAssembly(),
  capUsage: () => undefined,
} satisfies Wire;

/** Consecutive elements of the model form one message, as do consecutive pieces of content without a role. */
function decodeInteraction(elements: readonly WireObject[]): readonly DecodedMessage[] {
  const messages: DecodedMessage[] = [];
  for (let from = 0; from < elements.length; ) {
    const speaker = findSpeaker(elements[from] as WireObject);
    let to = from + 1;
    if (speaker !== "turn")
      while (to < elements.length && findSpeaker(elements[to] as WireObject) === speaker) to++;
    const parts = elements.slice(from, to).flatMap(listParts);
    const role = speaker === "model" || elements[from]?.role === "model" ? "model" : "user";
    const input = decodeGoogleElement({ role, parts });
    if (!isEmptyMessage(input)) messages.push({ input, from, to });
    from = to;
  }
  return messages;
}

const CONTENT_TYPES: readonly unknown[] = ["text", "image", "audio", "video", "document"];

/** Who speaks in an element; "turn" stands for an element that is a message by itself. */
function findSpeaker({ type, role }: WireObject): "model" | "content" | "turn" {
  if (role !== undefined || type === "user_input" || type === "function_result") return "turn";
  return CONTENT_TYPES.includes(type) ? "content" : "model";
}

/** The content of an element in the form of generateContent, which the log has one reader for. */
function listParts(element: WireObject): readonly WireObject[] {
  const { type, role, content } = element;
  const isNested = role !== undefined || type === "user_input" || type === "model_output";
  if (!isNested) return [toPart(element)];
  if (typeof content === "string") return [{ text: content }];
  const list = Array.isArray(content) ? content : [content];
  return list
    .map(toObject)
    .filter((one) => one !== undefined)
    .map(toPart);
}

function toPart(content: WireObject): WireObject {
  const { type, text, data, mime_type: mimeType, signature, id, name } = content;
  switch (type) {
    case "text":
      return typeof text === "string" ? { text } : content;
    case "image":
    case "audio":
    case "video":
    case "document":
      return typeof data === "string" ? { inlineData: { mimeType, data } } : content;
    case "thought":
      return {
        text: joinText(content.summary),
        thought: true,
        ...(typeof signature === "string" && { thoughtSignature: signature }),
      };
    case "function_call":
      return { functionCall: { id, name, args: readArguments(content) } };
    case "function_result":
      return {
        functionResponse: {
          id: content.call_id,
          name,
          response: toObject(content.result) ?? { result: content.result },
        },
      };
    default:
      return content;
  }
}

/** The arguments of a call, which a stream gives as text; undefined if the text is not complete. */
function readArguments({ arguments: given = {} }: WireObject): unknown {
  return typeof given === "string" ? parseObject(given) : given;
}

function joinText(value: unknown): string {
  if (typeof value === "string") return value;
  return toArray(value)
    .map((one) => toText(toObject(one)?.text) ?? "")
    .join("\n");
}

/** Assembles an interaction: its outputs as a whole, or the pieces of a stream. */
class InteractionAssembly extends ReplyAssembly {
  readonly #outputs = new Map<number, WireObject>();
  #interaction: WireObject = {};

  protected override takeEvent(name: string, event: WireObject): void {
    const type = toText(event.event_type) ?? name;
    const index = toNumber(event.index) ?? 0;
    if (/^interaction\./.test(type)) this.#meet(toObject(event.interaction) ?? event);
    else if (/^(?:content|step)\.start$/.test(type))
      this.#outputs.set(index, toObject(event.content ?? event.step) ?? {});
    else if (/^(?:content|step)\.delta$/.test(type)) this.#add(index, toObject(event.delta) ?? {});
    else if (type === "error") this.failure = readStreamFailure(event);
  }

  protected override takeBody(body: WireObject): void {
    if (body.error !== undefined && body.error !== null) this.failure = readStreamFailure(body);
    this.#meet(body);
  }

  message(): MessageInput | undefined {
    const outputs = [...this.#outputs].sort(([one], [other]) => one - other).map(([, output]) => output);
    const isWhole = (one: WireObject) => one.type !== "function_call" || readArguments(one) !== undefined;
    const parts = outputs.filter((one) => one.type !== "user_input" && isWhole(one)).flatMap(listParts);
    const message = decodeGoogleElement({ role: "model", parts }, this.model);
    return isEmptyMessage(message) ? undefined : message;
  }

  get isComplete(): boolean {
    const { status } = this.#interaction;
    return this.failure === undefined && /^(?:completed|requires_action|incomplete)$/.test(String(status));
  }

  get hasBegun(): boolean {
    return this.#outputs.size > 0;
  }

  get usage(): Usage | undefined {
    return parseGoogleUsage(this.#interaction.usage);
  }

  get stopReason(): string | undefined {
    return toText(this.#interaction.status);
  }

  get responseId(): string | undefined {
    return toText(this.#interaction.id);
  }

  get model(): string | undefined {
    return toText(this.#interaction.model) ?? toText(this.#interaction.agent);
  }

  #meet(interaction: WireObject): void {
    const told = Object.entries(interaction).filter(([, value]) => value !== null && value !== undefined);
    this.#interaction = { ...this.#interaction, ...Object.fromEntries(told) };
    const outputs = toArray(interaction.outputs ?? interaction.steps);
    for (const [index, output] of outputs.entries()) this.#outputs.set(index, toObject(output) ?? {});
  }

  /** Adds a piece of an output: texts and arguments grow, other fields are set. */
  #add(index: number, delta: WireObject): void {
    const known = this.#outputs.get(index) ?? { type: delta.type };
    const { type: _, ...fields } = delta;
    const { type, content, summary } = known;
    if (type === "model_output")
      this.#outputs.set(index, { ...known, content: growContent(toArray(content), delta) });
    else if (type === "thought" && (fields.text ?? fields.content) !== undefined)
      this.#outputs.set(index, {
        ...known,
        summary: joinText(summary) + joinText([fields.content ?? fields]),
      });
    else this.#outputs.set(index, grow(known, fields));
  }
}

/** The content of a step with another piece: a text continues the text before it. */
function growContent(content: readonly unknown[], delta: WireObject): readonly unknown[] {
  const last = toObject(content.at(-1));
  const isNew =
    !last || (CONTENT_TYPES.includes(delta.type) && (delta.type !== "text" || last.type !== "text"));
  return isNew ? [...content, delta] : content.with(-1, grow(last, omitFields(delta, ["type"]) ?? {}));
}

function grow(known: WireObject, fields: WireObject): WireObject {
  const grown = Object.entries(fields).map(([name, value]) => {
    const before = known[name];
    const isPiece =
      typeof value === "string" && typeof before === "string" && /^(?:text|arguments)$/.test(name);
    return [name, isPiece ? before + value : value];
  });
  return { ...known, ...Object.fromEntries(grown) };
}
