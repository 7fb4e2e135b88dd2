import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { admit } from "../../../../src/server/gateway/door/admit.ts";
import {
  buildServerOptions,
  guardServer,
  type ServerGuard,
} from "../../../../src/server/gateway/door/guard-server.ts";
import {
  type BodyReadResult,
  discardBody,
  readRequestBody,
} from "../../../../src/server/gateway/door/read-body.ts";
import { type DoorConfig, readRequestHead } from "../../../../src/server/gateway/door/request-head.ts";

/** A server with a door that only measures bodies. */
export interface DoorServer extends AsyncDisposable {
  readonly port: number;
  readonly guard: ServerGuard;
  /** Outcomes of reading the bodies. */
  readonly read: readonly BodyReadResult["type"][];
  /** Number of admitted requests. */
  readonly admitted: number;
}

/** Starts a server that replies with the size of the body, or with the refusal. */
export async function startDoorServer(config: DoorConfig): Promise<DoorServer> {
  const read: BodyReadResult["type"][] = [];
  let admitted = 0;
  const server = createServer(buildServerOptions(config));
  const guard = guardServer(
    server,
    () => config,
    async (request, response) => {
      const answer = (status: number, body: unknown, headers = {}) => {
        response
          .writeHead(status, { ...headers, "content-type": "application/json" })
          .end(JSON.stringify(body));
        discardBody(request);
      };
      const admission = admit(readRequestHead(request), config);
      if (admission.type === "preflight") return void response.writeHead(204, admission.headers).end();
      if (admission.type === "refused")
        return answer(admission.fault.status, admission.fault, admission.headers);
      admitted++;
      const body = await readRequestBody(request, config.limits, { encoding: admission.encoding, response });
      read.push(body.type);
      if (body.type === "gone") return;
      if (body.type === "refused") return answer(body.fault.status, body.fault);
      answer(200, {
        bytes: body.body.length,
        rawBytes: body.raw.length,
        head: body.body.toString("utf8", 0, 40),
      });
    },
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    guard,
    read,
    get admitted() {
      return admitted;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Connects, ignoring errors. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await Promise.race([once(socket, "connect"), once(socket, "close")]);
  return socket;
}

/** Time after which no further answer comes. */
const QUIET_MS = 400;
/** Time in which a busy machine answers. */
const MAX_SILENCE_MS = 20_000;

/** Sends raw bytes, and returns everything received until the connection closes, or stays quiet after some answers. */
export async function sendRaw(port: number, bytes: string, answers = 1): Promise<string> {
  const socket = await openSocket(port);
  let text = "";
  const done = Promise.withResolvers<void>();
  socket.setTimeout(MAX_SILENCE_MS, () => done.resolve());
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    if (statusesOf(text).length >= answers) socket.setTimeout(QUIET_MS);
  });
  socket.on("close", () => done.resolve());
  socket.write(bytes, "latin1");
  await done.promise;
  socket.destroy();
  return text;
}

/** The status codes of all responses in the received text. */
export function statusesOf(answer: string): readonly number[] {
  return [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
}
