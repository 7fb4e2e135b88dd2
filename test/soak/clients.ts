import { Agent, request as openRequest } from "node:http";
import { replyTo, SLOW } from "./upstream.ts";

type Api = "anthropic" | "chat" | "responses";

const APIS: readonly Api[] = ["anthropic", "anthropic", "chat", "responses"];
const PATHS: Readonly<Record<Api, string>> = {
  anthropic: "/v1/messages",
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
};
/** One in this many conversations is aborted during its last reply. */
const LEFT_OF = 5;
/** One in this many conversations has an explicit id, which is used again in later rounds. */
const NAMED_OF = 6;
const NAMES = 40;
/** In one of this many conversations, the client replaces the replies in its history. */
const REWRITTEN_OF = 7;
/** One in this many messages asks about something said before, which triggers recall. */
const RECALLED_OF = 16;
/** Longest conversation in turns; every length from 2 on occurs. */
const MAX_TURNS = 8;

/** Agents that hold conversations with a gateway. */
export class Clients {
  readonly #url: URL;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  #conversations = 0;
  /** Numbers of requests that were sent, aborted and failed. */
  readonly counts = { requests: 0, aborted: 0, failed: 0 };

  constructor(url: string) {
    this.#url = new URL(url);
  }

  /** Holds one conversation of a few turns. */
  async converse(): Promise<void> {
    const number = this.#conversations++;
    const api = APIS[number % APIS.length] as Api;
    const turns = 2 + ((number * 5) % (MAX_TURNS - 1));
    const isLeft = number % LEFT_OF === 0;
    const name = number % NAMED_OF === 0 ? `named-${(number / NAMED_OF) % NAMES}` : undefined;
    const messages: object[] = [];
    for (let turn = 0; turn < turns; turn++) {
      const isAborted = isLeft && turn === turns - 1;
      const padding = "The file says that tokens come in order. ".repeat((number + turn) % 12);
      const cue = (number + turn) % RECALLED_OF ? "go on with it." : "do you remember what we said?";
      const question = `Question ${number}.${turn}`;
      const ask = `${question} about module ${number % 97}; ${cue} ${padding}`;
      messages.push({ role: "user", content: isAborted ? `${ask} Answer ${SLOW}.` : ask });
      await this.#ask(api, messages, { isAborted, name });
      messages.push({
        role: "assistant",
        content: number % REWRITTEN_OF ? replyTo(question) : `Shortened ${question}.`,
      });
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #ask(
    api: Api,
    messages: readonly object[],
    { isAborted, name }: { readonly isAborted: boolean; readonly name: string | undefined },
  ): Promise<void> {
    const model = api === "anthropic" ? "claude-sonnet-4-5" : "gpt-5";
    const said = api === "responses" ? { input: messages } : { messages };
    const body = JSON.stringify({
      model,
      stream: true,
      ...(api === "anthropic" && { max_tokens: 100 }),
      ...said,
    });
    const { hostname, port } = this.#url;
    const key =
      api === "anthropic" ? { "x-api-key": "key-of-alice" } : { authorization: "Bearer key-of-alice" };
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      ...key,
      ...(name !== undefined && { "x-session-id": name }),
    };
    this.counts.requests++;
    return new Promise((resolve) => {
      const request = openRequest(
        { hostname, port, path: PATHS[api], method: "POST", headers, agent: this.#agent },
        (answer) => {
          if (answer.statusCode !== 200) this.counts.failed++;
          answer.once("data", () => {
            if (!isAborted) return;
            this.counts.aborted++;
            request.destroy();
          });
          answer
            .resume()
            .on("close", resolve)
            .on("error", () => resolve());
        },
      );
      request.on("error", () => {
        if (!isAborted) this.counts.failed++;
        resolve();
      });
      request.end(body);
    });
  }
}
