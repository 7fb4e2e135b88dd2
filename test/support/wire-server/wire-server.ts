import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { anthropic } from "./anthropic.ts";
import type { WireApi } from "./api.ts";
import type { Behaviour } from "./behaviour.ts";
import { google } from "./google.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiEmbeddings } from "./openai-embeddings.ts";
import { openaiResponses } from "./openai-responses.ts";
import { perform } from "./perform.ts";

/** Longer than any pause of a test: a server that closes an idle connection races with the next request on it. */
const KEEP_ALIVE_MS = 10 * 60_000;

const apis: readonly WireApi[] = [anthropic, openaiChat, openaiResponses, google, openaiEmbeddings];

/** A received request. */
export interface ReceivedRequest {
  /** Name of the API, such as `anthropic`. */
  readonly api: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
  /** Resolves when the exchange is over: true if the response was sent completely. */
  readonly closed: Promise<boolean>;
}

/** A server that imitates providers and follows the test's script. */
export interface WireServer extends AsyncDisposable {
  /** Address without a path. */
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Behaviors of the next requests, one each. */
  script(...behaviours: readonly Behaviour[]): void;
  /** Chooses a behavior by request, for concurrent clients; undefined falls back to the script. */
  decide(by: (request: ReceivedRequest) => Behaviour | undefined): void;
  /** The behavior of every request without a script. */
  always(behaviour: Behaviour): void;
  /** Resolves with the `count`-th request. */
  received(count: number): Promise<ReceivedRequest>;
  close(): Promise<void>;
}

/** Starts a server on a free port. */
export async function startWireServer(): Promise<WireServer> {
  const requests: ReceivedRequest[] = [];
  const waiting: { readonly count: number; readonly resolve: (request: ReceivedRequest) => void }[] = [];
  const queue: Behaviour[] = [];
  let deciding: (request: ReceivedRequest) => Behaviour | undefined = () => undefined;
  let standing: Behaviour = { type: "error", kind: "bad-request", body: "nothing is scripted" };

  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS },
    (incoming, response) => void answer(incoming, response),
  );

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path } = new URL(incoming.url ?? "/", "http://wire");
    const closed = Promise.withResolvers<boolean>();
    response.once("close", () => closed.resolve(response.writableFinished));
    const api = apis.find(({ matches }) => matches(path));
    const body = JSON.parse((await text(incoming)) || "{}") as Readonly<Record<string, unknown>>;
    if (!api) return void response.writeHead(404).end();
    const received = { api: api.name, path, headers: incoming.headers, body, closed: closed.promise };
    requests.push(received);
    perform(deciding(received) ?? queue.shift() ?? standing, api, { path, body }, response);
    for (const { count, resolve } of waiting) {
      const request = requests[count - 1];
      if (request) resolve(request);
    }
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script: (...behaviours) => void queue.push(...behaviours),
    decide: (by) => {
      deciding = by;
    },
    always: (behaviour) => {
      standing = behaviour;
    },
    received(count) {
      const request = requests[count - 1];
      if (request) return Promise.resolve(request);
      const { promise, resolve } = Promise.withResolvers<ReceivedRequest>();
      waiting.push({ count, resolve });
      return promise;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
