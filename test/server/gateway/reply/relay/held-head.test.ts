import { once } from "node:events";
import { expect, test } from "vitest";
import { askBare, event, startWorld } from "./world.ts";

/** The first bytes that a client gets of a reply that is held back for a time after it has arrived whole. */
async function readFirst(holdMs: number): Promise<{ readonly first: string; readonly isHeld: boolean }> {
  let storing: Promise<void> | undefined;
  const tap = () => {
    storing ??= new Promise<void>((resolve) => setTimeout(resolve, holdMs)).then(() => {
      storing = undefined;
    });
  };
  const { port } = await startWorld(
    (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(event("all"));
    },
    { tap, hold: () => storing },
  );
  const socket = await askBare(port);
  const [bytes] = await once(socket, "data");
  return { first: bytes.toString("latin1"), isHeld: storing !== undefined };
}

test("a reply whose bytes are held for a moment leaves with head, bytes and end together", async () => {
  const { first } = await readFirst(5);
  expect(first).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(first).toContain(event("all"));
  expect(first).toMatch(/0\r\n\r\n$/);
});

test("a reply whose bytes are held for longer sends its head first", async () => {
  const { first, isHeld } = await readFirst(400);
  expect(first).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(first).toMatch(/\r\n\r\n$/);
  expect(first).not.toContain("data:");
  expect(isHeld).toBe(true);
});
