import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { WireObject } from "../../../../src/wire/wire.ts";
import { Random } from "../../../support/random.ts";
import type { Reply, WireToolCall } from "../../../support/wire-server/behaviour.ts";
import { readScenarios } from "../replay.ts";

/** The requests of one client in order, each with the reply that the next one repeats. */
export interface Conversation {
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly requests: readonly { readonly body: WireObject; readonly reply: Reply }[];
}

/** A message of a person or results of tools, and the model's reply. */
interface Step {
  readonly text: string;
  readonly results: readonly { readonly id: string; readonly text: string }[];
  readonly reply: { readonly text: string; readonly calls: readonly WireToolCall[] };
}

export type Api = "anthropic" | "openai-chat" | "openai-responses";

const PATHS = {
  anthropic: "/v1/messages",
  "openai-chat": "/v1/chat/completions",
  "openai-responses": "/v1/responses",
};
const MAX_TEXT = 3_000;

/** Conversations of real clients as they were sent, on models that documented providers serve. */
export function readSentConversations(): readonly Conversation[] {
  return readScenarios()
    .filter(({ name }) => name.includes("/normal"))
    .map(({ name, recorded }) => {
      // opencode's first request asks for a title.
      const own = recorded.filter(({ elements }, at) => at > 0 || elements.length < 3);
      const { path } = own[0]?.api ?? { path: "" };
      const isAnthropic = path.endsWith("messages");
      const headers: Record<string, string> = {};
      const [raw = []] = own.map(({ rawHeaders }) => rawHeaders);
      for (let at = 0; at < raw.length; at += 2) {
        const key = (raw[at] as string).toLowerCase();
        if (/user-agent|session|anthropic|x-app/.test(key)) headers[key] = raw[at + 1] as string;
      }
      return {
        name,
        path: `/v1${path.replace(/^\/v1/, "")}`,
        headers,
        requests: own.map(({ body, elements }, at) => ({
          // Short prompts are cached by some models only.
          body: {
            ...body,
            model: isAnthropic
              ? name.startsWith("pi")
                ? "claude-sonnet-4-5"
                : "claude-opus-4-5"
              : "gpt-5.1",
          },
          reply: replyOf((own[at + 1]?.elements ?? []).slice(elements.length)),
        })),
      };
    });
}

/** The model's reply at the beginning of the elements that follow a request. */
function replyOf(elements: readonly WireObject[]): Reply {
  let text = "";
  const toolCalls: WireToolCall[] = [];
  for (const element of elements) {
    const {
      role,
      type,
      content,
      tool_calls: calls = [],
    } = element as WireObject & { tool_calls?: WireObject[] };
    if (role === "user" || role === "tool" || type === "function_call_output") break;
    if (typeof content === "string") text += content;
    for (const part of Array.isArray(content) ? (content as WireObject[]) : []) {
      if (typeof part.text === "string") text += part.text;
      if (part.type === "tool_use")
        toolCalls.push({ id: String(part.id), name: String(part.name), input: part.input });
    }
    for (const call of calls) {
      const { name, arguments: given } = call.function as { name: string; arguments: string };
      toolCalls.push({ id: String(call.id), name, input: JSON.parse(given) });
    }
    if (type === "function_call")
      toolCalls.push({
        id: String(element.call_id),
        name: String(element.name),
        input: JSON.parse(String(element.arguments)),
      });
  }
  return { text: text || "Done.", ...(toolCalls.length > 0 && { toolCalls }) };
}

/** The steps of conversations in the transcripts of this machine, as far as each call has its result. */
export function readTranscripts(count: number, minSteps: number, maxSteps: number): readonly Step[][] {
  const folder = join(process.env.LONGHAUL_DATA ?? "../shared/data", "transcripts/claude-code");
  if (!existsSync(folder)) return [];
  const found: Step[][] = [];
  for (const file of globSync("**/*.jsonl.gz", { cwd: folder }).sort()) {
    const steps = readSteps(gunzipSync(readFileSync(join(folder, file))).toString("utf8"), maxSteps);
    if (steps.length >= minSteps && found.push(steps) === count) break;
  }
  return found;
}

function readSteps(lines: string, maxSteps: number): Step[] {
  const steps: Step[] = [];
  let text = "";
  let results: { id: string; text: string }[] = [];
  let reply: { text: string; calls: WireToolCall[] } | undefined;
  const clip = (value: unknown) =>
    (typeof value === "string" ? value : JSON.stringify(value)).slice(0, MAX_TEXT);
  const isPaired = () => {
    const asked = steps.at(-1)?.reply.calls.map(({ id }) => id) ?? [];
    return asked.length === results.length && asked.every((id) => results.some((one) => one.id === id));
  };
  for (const line of lines.split("\n")) {
    if (!line.startsWith("{")) continue;
    const record = JSON.parse(line);
    const isOurs = (record.type === "user" || record.type === "assistant") && !record.isSidechain;
    if (!isOurs) continue;
    const { content } = record.message;
    const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
    if (record.type === "user" && reply) {
      if (!isPaired()) return steps;
      steps.push({ text, results, reply });
      if (steps.length === maxSteps) return steps;
      [text, results, reply] = ["", [], undefined];
    }
    for (const part of parts) {
      if (record.type === "user") {
        if (part.type === "text") text += `${clip(part.text)}\n`;
        if (part.type === "tool_result") results.push({ id: part.tool_use_id, text: clip(part.content) });
        continue;
      }
      reply ??= { text: "", calls: [] };
      if (part.type === "text") reply.text += part.text.trim();
      if (part.type === "tool_use") reply.calls.push({ id: part.id, name: part.name, input: part.input });
    }
  }
  return steps;
}

/** Steps of a written conversation about ships, for machines without recordings. */
export function writeSteps(count: number, seed: number): Step[] {
  const random = new Random(seed);
  let asked: WireToolCall[] = [];
  return Array.from({ length: count }, (_, at) => {
    const results = asked.map(({ id }) => ({ id, text: writeText(random, 250) }));
    asked =
      at % 5 === 4
        ? []
        : Array.from({ length: 1 + (at % 3) }, (_, call) => ({
            id: `toolu_${seed}_${at}_${call}`,
            name: call % 2 ? "read_file" : "run_command",
            input: { path: `ships/${seed}/${at}-${call}.log` },
          }));
    const text =
      results.length > 0 ? "" : `Look at the ships of port ${seed}-${at}. ${writeText(random, 30)}`;
    return { text, results, reply: { text: `Port ${seed}, step ${at}.`, calls: asked } };
  });
}

/** Words of a seed. */
export function writeText(random: Random, words: number): string {
  const stock = [
    "anchor",
    "harbor",
    "cargo",
    "tide",
    "pilot",
    "crane",
    "signal",
    "voyage",
    "ballast",
    "rope",
  ];
  return Array.from({ length: words }, () => `${random.pick(stock)}${random.below(1_000)}`).join(" ");
}

/** How a client of Anthropic marks its prompt. */
export interface Marks {
  /** The last blocks of this many latest messages of the person; "automatic" leaves the choice to the provider. */
  readonly messages: 1 | 2 | "automatic";
  readonly ttl?: "5m" | "1h";
  readonly systemTtl?: "5m" | "1h";
}

/** Sends steps as an agent of an API would. */
export function sendSteps(
  name: string,
  steps: readonly Step[],
  api: Api,
  { model, marks = { messages: 2 } }: { readonly model: string; readonly marks?: Marks },
): Conversation {
  const random = new Random(name.length * 31 + steps.length);
  const system = `You are an agent for ships.\n${writeText(random, 700)}`;
  const names = [...new Set(steps.flatMap(({ reply }) => reply.calls.map((call) => call.name)))];
  const tools = [...names, "list_ports", "ask_person"].map((tool) => ({
    name: tool,
    description: `${tool}: ${writeText(random, 60)}`,
    schema: { type: "object", properties: { path: { type: "string" }, limit: { type: "number" } } },
  }));
  const lists: WireObject[][] = [];
  let elements: WireObject[] = [];
  for (const step of steps) {
    elements = [...elements, ...asksOf(step, api)];
    lists.push(elements);
    elements = [...elements, ...repliesOf(step, api)];
  }
  return {
    name: `${name} ${api}`,
    path: PATHS[api],
    headers: { "user-agent": "ship-agent/1.0" },
    requests: lists.map((list, at) => {
      const { text, calls } = (steps[at] as Step).reply;
      const reply: Reply = { text: text || "Now.", ...(calls.length > 0 && { toolCalls: calls }) };
      return { reply, body: buildBody(api, model, system, tools, list, marks) };
    }),
  };
}

function buildBody(
  api: Api,
  model: string,
  system: string,
  tools: readonly { readonly name: string; readonly description: string; readonly schema: object }[],
  list: readonly WireObject[],
  marks: Marks,
): WireObject {
  if (api === "anthropic") {
    const mark = (ttl: string | undefined) => ({ type: "ephemeral", ...(ttl === "1h" && { ttl }) });
    const users = list.flatMap(({ role }, at) => (role === "user" ? [at] : []));
    const marked = marks.messages === "automatic" ? [] : users.slice(-marks.messages);
    return {
      model,
      max_tokens: 8_000,
      ...(marks.messages === "automatic" && { cache_control: mark(marks.ttl) }),
      system: [{ type: "text", text: system, cache_control: mark(marks.systemTtl ?? marks.ttl) }],
      tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
      messages: list.map((element, at) => {
        if (!marked.includes(at)) return element;
        const content = (element.content as WireObject[]).slice();
        content.push({ ...content.pop(), cache_control: mark(marks.ttl) });
        return { ...element, content };
      }),
    };
  }
  if (api === "openai-chat")
    return {
      model,
      messages: [{ role: "system", content: system }, ...list],
      tools: tools.map(({ name, description, schema }) => ({
        type: "function",
        function: { name, description, parameters: schema },
      })),
    };
  return {
    model,
    store: false,
    instructions: system,
    input: list,
    tools: tools.map(({ name, description, schema }) => ({
      type: "function",
      name,
      description,
      parameters: schema,
    })),
  };
}

function asksOf({ text, results }: Step, api: Api): WireObject[] {
  if (api === "anthropic")
    return [
      {
        role: "user",
        content: [
          ...results.map(({ id, text: content }) => ({ type: "tool_result", tool_use_id: id, content })),
          ...(text || results.length === 0 ? [{ type: "text", text: text || "Go on." }] : []),
        ],
      },
    ];
  const asked = text || results.length === 0 ? [{ role: "user", content: text || "Go on." }] : [];
  return [
    ...results.map(({ id, text: output }) =>
      api === "openai-chat"
        ? { role: "tool", tool_call_id: id, content: output }
        : { type: "function_call_output", call_id: id, output },
    ),
    ...asked,
  ];
}

function repliesOf({ reply: { text, calls } }: Step, api: Api): WireObject[] {
  const said = text || "Now.";
  if (api === "anthropic")
    return [
      {
        role: "assistant",
        content: [{ type: "text", text: said }, ...calls.map((call) => ({ type: "tool_use", ...call }))],
      },
    ];
  if (api === "openai-chat")
    return [
      {
        role: "assistant",
        content: said,
        ...(calls.length > 0 && {
          tool_calls: calls.map(({ id, name, input }) => ({
            id,
            type: "function",
            function: { name, arguments: JSON.stringify(input) },
          })),
        }),
      },
    ];
  return [
    { type: "message", role: "assistant", content: [{ type: "output_text", text: said, annotations: [] }] },
    ...calls.map(({ id, name, input }) => ({
      type: "function_call",
      call_id: id,
      name,
      arguments: JSON.stringify(input),
    })),
  ];
}
