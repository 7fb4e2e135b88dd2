import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

const SYNC = 0x53;
const QUERY = 0x51;
const READY = 0x5a;
const KEY_DATA = 0x4b;

/** Splits a stream into messages of PostgreSQL's protocol. */
class MessageReader {
  #rest: Buffer = Buffer.alloc(0);

  /** The complete messages so far; with `hasType` false, the first has no type byte. */
  read(bytes: Buffer, hasType: boolean): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const messages: Buffer[] = [];
    for (let typed = hasType; ; typed = true) {
      const header = typed ? 5 : 4;
      if (this.#rest.length < header) return messages;
      const length = this.#rest.readUInt32BE(header - 4) + header - 4;
      if (this.#rest.length < length) return messages;
      messages.push(this.#rest.subarray(0, length));
      this.#rest = this.#rest.subarray(length);
    }
  }
}

function buildQuery(text: string): Buffer {
  const message = Buffer.alloc(5 + text.length);
  message.writeUInt8(QUERY, 0);
  message.writeUInt32BE(4 + text.length, 1);
  message.write(text, 5);
  return message;
}

/**
 * Starts a proxy that treats a client as a pooler in transaction mode does: it makes up the process id, and after each
 * transaction everything that belongs to the connection is gone.
 */
export async function startPoolingProxy(
  serverUrl: string,
): Promise<{ url: string; readonly resets: number }> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let resets = 0;
  const proxy = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        client.destroy();
        upstream.destroy();
      });
    }
    const [fromClient, fromServer] = [new MessageReader(), new MessageReader()];
    let hasStarted = false;
    let isBusy = false;
    let isResetting = false;
    const waiting: Buffer[] = [];
    const forward = () => {
      while (!isBusy && waiting.length > 0) {
        const message = waiting.shift() as Buffer;
        isBusy = message[0] === SYNC || message[0] === QUERY;
        upstream.write(message);
      }
    };
    client.on("data", (bytes: Buffer) => {
      const messages = fromClient.read(bytes, hasStarted);
      if (!hasStarted && messages.length > 0) {
        hasStarted = true;
        isBusy = true;
        upstream.write(messages.shift() as Buffer);
      }
      waiting.push(...messages);
      forward();
    });
    upstream.on("data", (bytes: Buffer) => {
      for (const message of fromServer.read(bytes, true)) {
        if (message[0] === KEY_DATA) message.writeUInt32BE(4_242_424, 5);
        if (!isResetting) client.write(message);
        if (message[0] !== READY) continue;
        if (!isResetting && message[5] === "I".charCodeAt(0)) {
          isResetting = true;
          resets++;
          upstream.write(buildQuery("DISCARD ALL\0"));
          continue;
        }
        isResetting = false;
        isBusy = false;
        forward();
      }
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const url = new URL(serverUrl);
  url.port = String((proxy.address() as { port: number }).port);
  return {
    url: url.href,
    get resets() {
      return resets;
    },
  };
}
