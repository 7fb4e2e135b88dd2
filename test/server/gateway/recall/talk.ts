import { RECALL_TOOL } from "../../../../src/server/gateway/recall/recall-tools.ts";
import type { WireName, WireObject } from "../../../../src/wire/wire.ts";
import { type Answer, ask, type TestGateway } from "../../../support/gateway.ts";
import type { Heard } from "../../../support/upstream.ts";
import type { Reply } from "../../../support/wire-server/behaviour.ts";
import { type Seen, seenBody, seenStream } from "./seen.ts";

/** The APIs with tools of the gateway. */
type OlderWireName = Exclude<WireName, "google">;

/** All APIs, streamed and not. */
export const WAYS: readonly (readonly [OlderWireName, boolean])[] = (
  ["anthropic", "openai-chat", "openai-responses"] as const
).flatMap((api) => [
  [api, true],
  [api, false],
]);

export const RECALLS = { recall: { tools: true, context: false } };

const PATHS: Readonly<Record<OlderWireName, string>> = {
  anthropic: "/v1/messages",
  "openai-chat": "/v1/chat/completions",
  "openai-responses": "/v1/responses",
};

/** A tool of the client. */
export function readTool(api: OlderWireName): WireObject {
  const schema = { type: "object", properties: { path: { type: "string" } } };
  if (api === "anthropic") return { name: "read", description: "Reads.", input_schema: schema };
  const named = { name: "read", description: "Reads.", parameters: schema };
  return api === "openai-chat" ? { type: "function", function: named } : { type: "function", ...named };
}

/** A request body of an API. */
export function requestOf(
  api: OlderWireName,
  isStreamed: boolean,
  said: readonly WireObject[],
  rest: object = {},
): object {
  const own = api === "anthropic" ? { system: "You help.", max_tokens: 500 } : {};
  return {
    model: api === "anthropic" ? "claude-sonnet-4-5" : "gpt-5-mini",
    ...own,
    tools: [readTool(api)],
    [api === "openai-responses" ? "input" : "messages"]: said,
    ...(isStreamed && { stream: true }),
    ...(isStreamed && api === "openai-chat" && { stream_options: { include_usage: true } }),
    ...rest,
  };
}

/** A user message. */
export function userSays(text: string): WireObject {
  return { role: "user", content: text };
}

/** The result of a client's tool. */
export function toolSays(api: OlderWireName, id: string, text: string): WireObject {
  if (api === "openai-chat") return { role: "tool", tool_call_id: id, content: text };
  if (api === "openai-responses") return { type: "function_call_output", call_id: id, output: text };
  return { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text }] };
}

/** A client and its way of talking. */
export interface Talker {
  readonly gateway: TestGateway;
  readonly api: OlderWireName;
  readonly isStreamed: boolean;
  /** The credential that the client sends. */
  readonly key?: string;
}

/** Sends a request and parses the response as a strict client does. */
export async function talk(talker: Talker, said: readonly WireObject[], rest: object = {}): Promise<Seen> {
  const answer = await askRaw(talker, said, rest);
  if (answer.status !== 200 || !answer.isWhole) throw new Error(`${answer.status} ${answer.text}`);
  return talker.isStreamed
    ? seenStream(talker.api, answer.text)
    : seenBody(talker.api, JSON.parse(answer.text));
}

export function askRaw(
  { gateway, api, isStreamed, key = "key-of-alice" }: Talker,
  said: readonly WireObject[],
  rest: object = {},
  question: object = {},
): Promise<Answer> {
  return ask(gateway, {
    path: PATHS[api],
    body: requestOf(api, isStreamed, said, rest),
    headers: { "x-api-key": key },
    ...question,
  });
}

/** A reply that calls recall. */
export function recalls(query: string, text?: string, id = "call_1"): Reply {
  return {
    ...(text !== undefined && { text }),
    toolCalls: [{ id, name: RECALL_TOOL, input: { query } }],
    usage: { input: 100, output: 7 },
  };
}

/** The elements that an upstream received. */
export function elementsOf({ json }: Heard): readonly WireObject[] {
  return json.messages ?? json.input;
}
