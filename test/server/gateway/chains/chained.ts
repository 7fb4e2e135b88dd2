import { setTimeout as sleep } from "node:timers/promises";
import { findViolations } from "../../../../src/server/gateway/outgoing/check-rules.ts";
import type { WireObject } from "../../../../src/wire/wire.ts";
import { type Answer, ask } from "../../../support/gateway.ts";
import {
  beginStream,
  eventsOf,
  type Heard,
  startUpstream,
  type Upstream,
  wireApi,
} from "../../../support/upstream.ts";
import type { Reply } from "../../../support/wire-server/behaviour.ts";

/** A provider that stores responses and accepts requests that continue from them. */
export interface KeepingUpstream extends Upstream {
  /** The full conversation of each accepted request, as the provider sees it. */
  readonly contexts: readonly (readonly WireObject[])[];
  readonly refusals: readonly string[];
  /** Forgets all responses. */
  forget(): void;
}

/** Options of a storing provider. */
export interface KeepingOptions {
  /** Maximum number of characters in total. */
  readonly most?: number;
  readonly reply?: (index: number, context: readonly WireObject[]) => Reply;
  /** False for a provider that does not know `previous_response_id`. */
  readonly isKeeping?: boolean;
  /** True to refuse inside a stream. */
  readonly isLate?: boolean;
  /** Duration of each reply. */
  readonly takesMs?: number;
}

const WIRE_ID = /resp_67ccd2bed1ec8190b14f964abc054267/g;

/** Starts a provider that stores responses and conversations like OpenAI's. */
export async function startKeepingUpstream(options: KeepingOptions = {}): Promise<KeepingUpstream> {
  const { most = Number.POSITIVE_INFINITY, reply = (index) => ({ text: `Reply ${index + 1}.` }) } = options;
  const { isKeeping = true, isLate = false, takesMs = 0 } = options;
  const kept = new Map<string, readonly WireObject[]>();
  const contexts: (readonly WireObject[])[] = [];
  const refusals: string[] = [];
  const refuse = (
    heard: Heard,
    response: Parameters<typeof beginStream>[0],
    status: number,
    error: object,
  ) => {
    refusals.push(String((error as WireObject).code));
    if (isLate && heard.json.stream) {
      const event = { type: "error", sequence_number: 0, ...error };
      beginStream(response).end(`event: error\ndata: ${JSON.stringify(event)}\n\n`);
    } else
      response
        .writeHead(status, { "content-type": "application/json" })
        .end(JSON.stringify({ error: { type: "invalid_request_error", ...error } }));
  };
  const upstream = await startUpstream(async (heard, response) => {
    const { previous_response_id: previous, conversation, input, store, stream } = heard.json as Wire;
    const fresh = typeof input === "string" ? [{ role: "user", content: input }] : (input ?? []);
    if (previous && (!isKeeping || !kept.has(previous)))
      return refuse(heard, response, isKeeping ? 400 : 501, {
        message: isKeeping
          ? `Previous response with id '${previous}' not found.`
          : "This server does not support 'previous_response_id'.",
        code: isKeeping ? "previous_response_not_found" : null,
        param: "previous_response_id",
      });
    const context = [...(kept.get(previous ?? conversation ?? "") ?? []), ...fresh];
    const problems = findViolations("openai-responses", context);
    const [problem] = problems;
    if (problem) {
      const isOpen = problem.rule === "call-without-result";
      const message = isOpen ? `No tool output found for function call ${problem.id}.` : problem.rule;
      return refuse(heard, response, 400, { message, code: problem.rule });
    }
    if (JSON.stringify(context).length > most)
      return refuse(heard, response, 400, {
        message:
          "Your input exceeds the context window of this model. Please adjust your input and try again.",
        code: "context_length_exceeded",
        param: "input",
      });
    const index = contexts.push(context) - 1;
    const said: Reply = {
      usage: { input: Math.ceil(JSON.stringify(context).length / 4), output: 5 },
      ...reply(index, context),
    };
    await sleep(takesMs);
    const id = `resp_${index + 1}_${String(heard.socket.remotePort)}`;
    const request = { path: heard.url, body: heard.json };
    const body = wireApi(heard.url).body(said, request) as { readonly output: readonly WireObject[] };
    const all = [...context, ...body.output];
    if (store !== false) kept.set(id, all);
    if (conversation) kept.set(conversation, all);
    if (stream)
      beginStream(response).end(
        eventsOf(heard, said)
          .map((event) => event.replace(WIRE_ID, id))
          .join(""),
      );
    else
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify(body).replace(WIRE_ID, id));
  });
  return { ...upstream, contexts, refusals, forget: () => kept.clear() };
}

/** A client that sends only new messages and names the response it continues from. */
export class ChainedClient {
  previous: string | undefined;
  readonly fields: Record<string, unknown> = { stream: true };
  headers: Record<string, string> = {};
  readonly #gateway: { readonly url: string };

  constructor(gateway: { readonly url: string }, previous?: string) {
    this.#gateway = gateway;
    this.previous = previous;
  }

  async send(input: unknown): Promise<Answer> {
    const { previous } = this;
    const body = {
      model: "gpt-4.1",
      ...this.fields,
      input,
      ...(previous && { previous_response_id: previous }),
    };
    return ask(this.#gateway, { path: "/v1/responses", body, headers: this.headers });
  }

  /** Sends a message and returns the reply's text; the conversation continues from it. */
  async say(input: unknown): Promise<string> {
    const { response } = await this.next(input);
    this.previous = response.id;
    return textOf(response);
  }

  /** Sends a message without continuing from the reply. */
  async next(input: unknown): Promise<{ readonly response: Wire }> {
    const { status, text } = await this.send(input);
    if (status !== 200) throw new Error(`${status}: ${text}`);
    const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
    const response = text.startsWith("{")
      ? JSON.parse(text)
      : events.findLast((event) => event.response)?.response;
    if (response?.status !== "completed") throw new Error(text.slice(0, 500));
    return { response };
  }
}

/** The items of a context, one line each. */
export function wordsIn(items: readonly WireObject[]): readonly string[] {
  return (items as readonly Wire[]).map(
    ({ type = "message", role, content, call_id, arguments: of, output }) => {
      if (type === "message")
        return `${role}|${typeof content === "string" ? content : (content[0]?.text ?? "")}`;
      return `${type}|${call_id ?? ""}|${of ?? output ?? ""}`;
    },
  );
}

function textOf(response: Wire): string {
  return response.output.map(({ content }: Wire) => content?.[0]?.text ?? "").join("");
}

// biome-ignore lint/suspicious/noExplicitAny: provider bodies; each test reads the fields it needs.
type Wire = any;
