import { once } from "node:events";
import { expect, test } from "vitest";
import { proofTest } from "../../../support/proof.ts";
import { doorConfig } from "./door-config.ts";
import { openSocket, startDoorServer } from "./door-server.ts";

async function ask(port: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", connection: "close" },
    body: "{}",
  });
  await response.arrayBuffer();
  return response.status;
}

proofTest(
  "500 connections that never finish their headers do not block others, and are closed",
  {
    timeout: 120_000,
  },
  async () => {
    await using server = await startDoorServer(
      doorConfig({ limits: { headersMs: 3_000, maxConnections: 200 } }),
    );
    const sockets = await Promise.all(Array.from({ length: 500 }, () => openSocket(server.port)));
    const drip = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write("X-A: b\r\n");
    }, 500);
    for (const socket of sockets) if (socket.writable) socket.write("POST /v1/messages HTTP/1.1\r\n");
    const statuses = await Promise.all(Array.from({ length: 20 }, () => ask(server.port)));
    expect(statuses).toEqual(Array.from({ length: 20 }, () => 200));
    expect(server.guard.connections).toBeLessThanOrEqual(200);
    await expect.poll(() => server.guard.connections, { interval: 200 }).toBe(0);
    clearInterval(drip);
    for (const socket of sockets) socket.destroy();
  },
);

test("a connection with a request in progress is never closed to make room", async () => {
  await using server = await startDoorServer(doorConfig({ limits: { maxConnections: 2, bodyMs: 5_000 } }));
  const busy = await openSocket(server.port);
  const isClosed = { busy: false };
  busy.once("close", () => {
    isClosed.busy = true;
  });
  busy.write(
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{`,
  );
  await expect.poll(() => server.admitted).toBe(1);
  const idle = await openSocket(server.port);
  const idleClosed = once(idle, "close");
  expect(await ask(server.port)).toBe(200);
  await idleClosed;
  const answer = once(busy, "data");
  busy.write("}");
  expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 200 /);
  expect(isClosed.busy).toBe(false);
  busy.destroy();
});

test("an idle connection that is kept open counts as waiting", async () => {
  await using server = await startDoorServer(doorConfig());
  const socket = await openSocket(server.port);
  socket.write(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`);
  await once(socket, "data");
  await expect.poll(() => server.guard).toMatchObject({ connections: 1, waiting: 1 });
  socket.destroy();
  await expect.poll(() => server.guard.connections).toBe(0);
});
