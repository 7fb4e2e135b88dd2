import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropic } from "../support/wire-server/anthropic.ts";
import type { WireEvent } from "../support/wire-server/api.ts";
import type { Machine } from "./machine.ts";

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly tool_use_id?: string;
}

interface ProviderMessage {
  readonly role: string;
  readonly content: string | readonly Block[];
}

/** Characters that its models take, as a provider's limit of tokens. */
const MAX_CHARACTERS = 120_000;

/** A provider that answers each valid request with words of its own, and refuses others as real ones do. */
export class Provider {
  /** Share of the requests that it answers with an error, or whose answer breaks off. */
  faults = 0;
  url = "";
  /** Requests that no client of the provider may send. */
  readonly violations: string[] = [];
  #answers = 0;
  readonly #machine: Machine;

  readonly #onWords: (words: string) => void;

  /** Tells `onWords` the newest words of each request. */
  constructor(machine: Machine, onWords: (words: string) => void) {
    this.#machine = machine;
    this.#onWords = onWords;
  }

  async listen(): Promise<void> {
    const server = createServer((request, response) => {
      response.on("error", () => undefined);
      void this.#answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    try {
      for await (const piece of request) pieces.push(piece as Buffer);
    } catch {
      return;
    }
    const { chance } = this.#machine;
    const text = Buffer.concat(pieces).toString();
    const body = JSON.parse(text) as { readonly messages: readonly ProviderMessage[] };
    this.#onWords(wordsOf(body.messages.at(-1)));
    const fault = chance.chance(this.faults)
      ? chance.pick(["overloaded", "cut", "stall"] as const)
      : undefined;
    await this.#machine.pause(50 + chance.next() * 2_000, "the provider thinks");
    const refusal = findInvalid(body.messages);
    if (refusal !== undefined) {
      this.violations.push(`${refusal}: ${text.slice(0, 2_000)}`);
      return sendError(response, 400, "invalid_request_error", refusal);
    }
    if (fault === "overloaded") return sendError(response, 529, "overloaded_error", "Overloaded");
    if (text.length > MAX_CHARACTERS) {
      const [sent, limit] = [text.length, MAX_CHARACTERS].map((count) => Math.round(count / 4));
      return sendError(
        response,
        400,
        "invalid_request_error",
        `prompt is too long: ${sent} tokens > ${limit} maximum`,
      );
    }
    const number = ++this.#answers;
    const [topic] = /topic-\d+/.exec(wordsOf(body.messages.at(-1))) ?? [];
    const input = Math.round(text.length / 4);
    const reply = {
      id: `msg_${number}`,
      text: `Answer ${number} on ${topic}.`,
      usage: { input, output: 20 },
    };
    const events = anthropic.events(reply, { path: "/v1/messages", body: body as never }).map(formatEvent);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const end = fault === undefined ? events.length : chance.below(events.length);
    for (const event of events.slice(0, end)) {
      response.write(event);
      if (chance.chance(0.3)) await this.#machine.pause(chance.next() * 300, "the provider writes");
    }
    if (fault === "cut") response.destroy();
    else if (fault === undefined) response.end();
    // A stalled answer ends with its connection.
    else await this.#machine.pause(30_000, "the provider stalls").then(() => response.destroy());
  }
}

const formatEvent = ({ event, data }: WireEvent) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

function sendError(response: ServerResponse, status: number, type: string, message: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ type: "error", error: { type, message } }));
}

function blocksOf(message: ProviderMessage | undefined): readonly Block[] {
  const content = message?.content ?? [];
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function wordsOf(message: ProviderMessage | undefined): string {
  return blocksOf(message)
    .map(({ text = "" }) => text)
    .join("\n");
}

/** Why a provider would refuse the messages; undefined if it would not. */
function findInvalid(messages: readonly ProviderMessage[]): string | undefined {
  if (messages.length === 0) return "messages: at least one message is required";
  if (messages[0]?.role !== "user") return "messages: first message must use the user role";
  for (const [index, message] of messages.entries()) {
    const blocks = blocksOf(message);
    if (blocks.length === 0 && index < messages.length - 1)
      return `messages.${index}: content must not be empty`;
    if (blocks.some(({ type, text }) => type === "text" && text?.trim() === ""))
      return `messages.${index}: text content blocks must be non-empty`;
    const calls = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id);
    const next = blocksOf(messages[index + 1]).flatMap(({ tool_use_id }) => tool_use_id ?? []);
    if (calls.some((id) => !next.includes(id ?? "")))
      return `messages.${index}: tool_use without tool_result`;
    const before = blocksOf(messages[index - 1]).flatMap(({ type, id }) => (type === "tool_use" ? id : []));
    if (blocks.some(({ type, tool_use_id = "" }) => type === "tool_result" && !before.includes(tool_use_id)))
      return `messages.${index}: tool_result without tool_use`;
  }
  return undefined;
}
