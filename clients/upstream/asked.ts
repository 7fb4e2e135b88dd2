import type { WireApi } from "../../test/support/wire-server/api.ts";

/** A tool that a client offers. */
export interface OfferedTool {
  readonly name: string;
  /** Its parameters by name, as JSON schema. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** One message of a request: its text, and its tool results. */
export interface AskedMessage {
  readonly role: string;
  readonly text: string;
  readonly results: readonly string[];
  /** The serialized message, including calls. */
  readonly whole: string;
}

/** A request in an API-independent form. */
export interface Asked {
  /** The system prompt. */
  readonly lead: string;
  readonly messages: readonly AskedMessage[];
  readonly tools: readonly OfferedTool[];
}

type Fields = Readonly<Record<string, unknown>>;

/** Parses a request of any of the APIs. */
export function readAsked(api: WireApi["name"], body: Fields): Asked {
  const tools = fieldsIn(body.tools).map(offered);
  if (api === "anthropic")
    return { lead: textOf(body.system), messages: fieldsIn(body.messages).map(inBlocks), tools };
  if (api === "openai-chat") {
    const messages = fieldsIn(body.messages).map(inChat);
    return { lead: leadOf(messages), messages, tools };
  }
  if (api === "google") {
    const declared = fieldsIn(body.tools).flatMap((tool) => fieldsIn(tool.functionDeclarations));
    return {
      lead: textOf((body.systemInstruction as Fields | undefined)?.parts),
      messages: fieldsIn(body.contents).map(inParts),
      tools: declared.map(offered),
    };
  }
  const items =
    typeof body.input === "string"
      ? [{ role: "user", text: body.input, results: [], whole: body.input }]
      : fieldsIn(body.input).map(inItems);
  return { lead: `${textOf(body.instructions)}\n${leadOf(items)}`, messages: items, tools };
}

function offered(tool: Fields): OfferedTool {
  const named = (tool.function ?? tool) as Fields;
  const schema = (named.parameters ?? named.parametersJsonSchema ?? named.input_schema ?? {}) as {
    readonly properties?: Fields;
  };
  return { name: String(named.name ?? named.type ?? ""), parameters: schema.properties ?? {} };
}

function inBlocks(message: Fields): AskedMessage {
  const { role, content } = message;
  const results = fieldsIn(content).filter(({ type }) => type === "tool_result");
  return {
    role: String(role),
    text: textOf(content),
    results: results.map((one) => textOf(one.content)),
    whole: JSON.stringify(message),
  };
}

function inParts(content: Fields): AskedMessage {
  const { role, parts } = content;
  const responses = fieldsIn(parts).flatMap((part): readonly Fields[] =>
    part.functionResponse ? [part.functionResponse as Fields] : [],
  );
  return {
    role: role === "model" ? "assistant" : "user",
    text: textOf(parts),
    results: responses.map(({ response }) =>
      Object.values((response ?? {}) as Fields)
        .map(String)
        .join("\n"),
    ),
    whole: JSON.stringify(content),
  };
}

function inChat(message: Fields): AskedMessage {
  const { role, content } = message;
  const text = textOf(content);
  const isResult = role === "tool";
  return {
    role: String(role),
    text: isResult ? "" : text,
    results: isResult ? [text] : [],
    whole: JSON.stringify(message),
  };
}

function inItems(item: Fields): AskedMessage {
  const { type, role, content, output } = item;
  const isResult = typeof type === "string" && type.endsWith("_output");
  return {
    role: isResult ? "tool" : String(role ?? type),
    text: textOf(content),
    results: isResult ? [textOf(output)] : [],
    whole: JSON.stringify(item),
  };
}

function leadOf(messages: readonly AskedMessage[]): string {
  return messages
    .filter(({ role }) => role === "system" || role === "developer")
    .map(({ text }) => text)
    .join("\n");
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return fieldsIn(content)
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .filter((text) => text !== "")
    .join("\n");
}

function fieldsIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as readonly Fields[]) : [];
}
