import type { WireName, WireObject } from "../../src/wire/wire.ts";
import { type Answer, ask, type Question } from "./gateway.ts";

/** A tool call requested by a model. */
export interface AskedCall {
  readonly id: string;
  readonly name: string;
}

/** A reply as a client stores it. */
export interface KeptReply {
  readonly elements: readonly WireObject[];
  readonly text: string;
  readonly calls: readonly AskedCall[];
  /** Input tokens reported to the client, including cached ones. */
  readonly inputTokens: number;
  readonly responseId: string | undefined;
}

/** The client side of one API. */
interface Dialect {
  readonly path: string;
  readonly list: string;
  readonly fields: WireObject;
  user(text: string): WireObject;
  results(calls: readonly AskedCall[], outputs: readonly string[]): readonly WireObject[];
  read(events: readonly WireObject[]): KeptReply;
}

/** An agent that keeps the whole conversation and sends it with every request, as stateless clients do. */
export class TestAgent {
  elements: WireObject[] = [];
  readonly fields: Record<string, unknown> = {};
  readonly headers: Record<string, string> = {};
  /** Target of its requests. */
  gateway: { readonly url: string };
  readonly #dialect: Dialect;

  constructor(gateway: { readonly url: string }, api: WireName = "anthropic") {
    this.gateway = gateway;
    this.#dialect = DIALECTS[api];
  }

  /** The body of its next request. */
  body(): WireObject {
    const { list, fields } = this.#dialect;
    return { ...fields, ...this.fields, [list]: this.elements };
  }

  /** Sends the conversation unchanged. */
  send(question: Partial<Question> = {}): Promise<Answer> {
    const { path } = this.#dialect;
    return ask(this.gateway, { path, body: this.body(), headers: this.headers, ...question });
  }

  /** Sends a user message and stores the reply. */
  async say(text: string): Promise<KeptReply> {
    this.elements.push(...this.words(text));
    return this.next();
  }

  /** Sends tool outputs and stores the reply. */
  async hand(calls: readonly AskedCall[], ...outputs: readonly string[]): Promise<KeptReply> {
    this.elements.push(...this.results(calls, outputs));
    return this.next();
  }

  /** A user message in the format of its API. */
  words(text: string): readonly WireObject[] {
    return [this.#dialect.user(text)];
  }

  /** Tool outputs in the format of its API. */
  results(calls: readonly AskedCall[], outputs: readonly string[]): readonly WireObject[] {
    return this.#dialect.results(calls, outputs);
  }

  /** Sends the conversation unchanged and stores the reply. */
  async next(): Promise<KeptReply> {
    const answer = await this.send();
    if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
    if (!answer.isWhole) throw new Error("the answer was cut");
    const reply = this.read(answer.text);
    this.elements.push(...reply.elements);
    return reply;
  }

  /** Parses a reply as the client stores it. */
  read(text: string): KeptReply {
    return this.#dialect.read(eventsIn(text));
  }
}

/** The data of a stream's events. */
export function eventsIn(text: string): readonly WireObject[] {
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
}

const TOOLS = ["read_file", "run_command"];

const anthropic: Dialect = {
  path: "/v1/messages",
  list: "messages",
  fields: {
    model: "claude-sonnet-4-5",
    max_tokens: 2_000,
    stream: true,
    system: "You are a coding agent that works on a project for its user, step by step.",
    tools: TOOLS.map((name) => ({ name, input_schema: { type: "object" } })),
  },
  user: (content) => ({ role: "user", content }),
  results: (calls, outputs) => [
    {
      role: "user",
      content: calls.map(({ id }, at) => ({ type: "tool_result", tool_use_id: id, content: outputs[at] })),
    },
  ],
  read(events) {
    const content: Record<string, unknown>[] = [];
    let inputTokens = 0;
    for (const { type, index, content_block, delta, message, usage } of events as readonly Wire[]) {
      const block = content[index] as Record<string, string>;
      const told = message?.usage ?? usage;
      if (told?.input_tokens !== undefined) inputTokens = sumOf(told);
      if (type === "content_block_start") content[index] = { ...content_block };
      else if (delta?.type === "text_delta") block.text += delta.text;
      else if (delta?.type === "thinking_delta") block.thinking += delta.thinking;
      else if (delta?.type === "signature_delta") block.signature = delta.signature;
      else if (delta?.type === "compaction_delta") block.content = (block.content ?? "") + delta.content;
      else if (delta?.type === "input_json_delta")
        content[index] = { ...block, input: JSON.parse(delta.partial_json) };
    }
    const calls = content.filter(({ type }) => type === "tool_use") as unknown as AskedCall[];
    const text = content.map((block) => block.text ?? "").join("");
    const [start] = events as readonly Wire[];
    return {
      elements: [{ role: "assistant", content }],
      text,
      calls,
      inputTokens,
      responseId: start?.message?.id,
    };
  },
};

const chat: Dialect = {
  path: "/v1/chat/completions",
  list: "messages",
  fields: {
    model: "gpt-4.1",
    stream: true,
    stream_options: { include_usage: true },
    tools: TOOLS.map((name) => ({ type: "function", function: { name, parameters: { type: "object" } } })),
  },
  user: (content) => ({ role: "user", content }),
  results: (calls, outputs) =>
    calls.map(({ id }, at) => ({ role: "tool", tool_call_id: id, content: outputs[at] })),
  read(events) {
    let text = "";
    let inputTokens = 0;
    const thought: { reasoning_content?: string; reasoning_details?: unknown } = {};
    const asked: WireObject[] = [];
    for (const { choices = [], usage } of events as readonly Wire[]) {
      if (usage) inputTokens = usage.prompt_tokens;
      const { content, reasoning_content, reasoning_details, tool_calls = [] } = choices[0]?.delta ?? {};
      text += content ?? "";
      if (reasoning_content)
        thought.reasoning_content = (thought.reasoning_content ?? "") + reasoning_content;
      if (reasoning_details) thought.reasoning_details = reasoning_details;
      for (const { index: _, ...call } of tool_calls) asked.push(call);
    }
    const calls = (asked as readonly Wire[]).map(({ id, function: { name } }) => ({ id, name }));
    const element = {
      role: "assistant",
      content: text,
      ...thought,
      ...(asked.length > 0 && { tool_calls: asked }),
    };
    return { elements: [element], text, calls, inputTokens, responseId: undefined };
  },
};

const responses: Dialect = {
  path: "/v1/responses",
  list: "input",
  fields: {
    model: "gpt-4.1",
    stream: true,
    instructions: "You are a coding agent that works on a project for its user, step by step.",
    tools: TOOLS.map((name) => ({ type: "function", name, parameters: { type: "object" } })),
  },
  user: (text) => ({ role: "user", content: [{ type: "input_text", text }] }),
  results: (calls, outputs) =>
    calls.map(({ id }, at) => ({ type: "function_call_output", call_id: id, output: outputs[at] })),
  read(events) {
    const { response } = (events as readonly Wire[]).findLast(({ response }) => response?.output) as Wire;
    const elements = response.output as readonly Wire[];
    const calls = elements
      .filter(({ type }) => type === "function_call")
      .map(({ call_id, name }) => ({ id: call_id, name }));
    const text = elements.map(({ content }) => content?.[0]?.text ?? "").join("");
    return { elements, text, calls, inputTokens: response.usage.input_tokens, responseId: response.id };
  },
};

const google: Dialect = {
  path: "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
  list: "contents",
  fields: {
    systemInstruction: { parts: [{ text: "You are a coding agent that works on a project for its user." }] },
    tools: [{ functionDeclarations: TOOLS.map((name) => ({ name, parameters: { type: "OBJECT" } })) }],
  },
  user: (text) => ({ role: "user", parts: [{ text }] }),
  results: (calls, outputs) => [
    {
      role: "user",
      parts: calls.map(({ id, name }, at) => ({
        functionResponse: { id, name, response: { output: outputs[at] } },
      })),
    },
  ],
  read(events) {
    const parts: Wire[] = [];
    for (const { candidates } of events as readonly Wire[])
      for (const part of candidates?.[0]?.content?.parts ?? []) {
        const last = parts.at(-1);
        const isSame = last?.text !== undefined && part.text !== undefined && last.thought === part.thought;
        if (isSame) Object.assign(last, part, { text: last.text + part.text });
        else parts.push({ ...part });
      }
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    const text = parts.map((part) => (part.thought ? "" : (part.text ?? ""))).join("");
    const { usageMetadata, responseId } = (events as readonly Wire[]).at(-1);
    return {
      elements: [{ role: "model", parts }],
      text,
      calls,
      inputTokens: usageMetadata.promptTokenCount,
      responseId,
    };
  },
};

const DIALECTS: Readonly<Record<WireName, Dialect>> = {
  google,
  anthropic,
  "openai-chat": chat,
  "openai-responses": responses,
};

// biome-ignore lint/suspicious/noExplicitAny: events of three APIs; each client reads the fields it needs.
type Wire = any;

function sumOf(usage: Readonly<Record<string, number>>): number {
  const { input_tokens = 0, cache_read_input_tokens = 0, cache_creation_input_tokens = 0 } = usage;
  return input_tokens + cache_read_input_tokens + cache_creation_input_tokens;
}
