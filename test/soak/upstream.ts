import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A request whose body contains this word gets a slow reply, so that its client can disconnect halfway. */
export const SLOW = "slowly";
const PAUSE_MS = 15;

/** The scripted reply to a question. */
export const replyTo = (question: string): string =>
  `Reply to ${question}. ${"A few words about the parser, the lexer and the build. ".repeat(3)}`;

/** Starts a provider of three APIs that streams scripted replies. */
export async function startUpstream(): Promise<{ readonly url: string; close(): void }> {
  let count = 0;
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (bytes: Buffer) => chunks.push(bytes));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const question = [...body.matchAll(/Question \d+\.\d+/g)].at(-1)?.[0] ?? "";
      void answer(response, eventsOf(request.url ?? "", replyTo(question), ++count), body.includes(SLOW));
    });
    request.on("error", () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

async function answer(response: ServerResponse, events: readonly string[], isSlow: boolean): Promise<void> {
  response.on("error", () => undefined);
  response.writeHead(200, { "content-type": "text/event-stream" });
  if (!isSlow) return void response.end(events.join(""));
  for (const event of events) {
    if (response.destroyed) return;
    response.write(event);
    await sleep(PAUSE_MS);
  }
  response.end();
}

function eventsOf(url: string, text: string, count: number): readonly string[] {
  if (url.includes("/responses")) return responsesEvents(text, count);
  return url.includes("/chat/") ? chatEvents(text, count) : anthropicEvents(text, count);
}

const named = (type: string, data: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

function anthropicEvents(text: string, count: number): readonly string[] {
  const usage = { input_tokens: 9, output_tokens: 1 };
  return [
    named("message_start", {
      message: { id: `msg_${count}`, type: "message", role: "assistant", content: [], model: "m", usage },
    }),
    named("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    named("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
    named("content_block_stop", { index: 0 }),
    named("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 40 } }),
    named("message_stop", {}),
  ];
}

function chatEvents(text: string, count: number): readonly string[] {
  const chunk = (choice: object) =>
    `data: ${JSON.stringify({ id: `chat_${count}`, object: "chat.completion.chunk", model: "m", choices: [choice] })}\n\n`;
  return [
    chunk({ index: 0, delta: { role: "assistant", content: "" } }),
    chunk({ index: 0, delta: { content: text } }),
    chunk({ index: 0, delta: {}, finish_reason: "stop" }),
    "data: [DONE]\n\n",
  ];
}

function responsesEvents(text: string, count: number): readonly string[] {
  const part = { type: "output_text", text, annotations: [] };
  const item = {
    id: `item_${count}`,
    type: "message",
    role: "assistant",
    status: "completed",
    content: [part],
  };
  const place = { item_id: item.id, output_index: 0, content_index: 0 };
  const usage = { input_tokens: 9, output_tokens: 40, total_tokens: 49 };
  return [
    named("response.created", { response: { id: `resp_${count}`, status: "in_progress", output: [] } }),
    named("response.output_item.added", {
      output_index: 0,
      item: { ...item, status: "in_progress", content: [] },
    }),
    named("response.content_part.added", { ...place, part: { ...part, text: "" } }),
    named("response.output_text.delta", { ...place, delta: text }),
    named("response.output_text.done", { ...place, text }),
    named("response.content_part.done", { ...place, part }),
    named("response.output_item.done", { output_index: 0, item }),
    named("response.completed", {
      response: { id: `resp_${count}`, status: "completed", output: [item], usage },
    }),
  ];
}
