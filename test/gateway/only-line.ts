import { expect } from "vitest";
import { lineOf, type TestGateway, threadsOf } from "../support/gateway.ts";
import { textsIn } from "./said.ts";

/** What the line of a gateway's only thread says; with a kind, of its only thread of that kind. */
export async function onlyLine(gateway: TestGateway, kind?: string): Promise<readonly string[]> {
  const threads = await threadsOf(gateway, kind);
  expect(threads).toHaveLength(1);
  return lineOfThread(gateway, threads[0]?.id);
}

/** What the line of a thread says. */
export async function lineOfThread(gateway: TestGateway, id: string | undefined): Promise<readonly string[]> {
  return (await lineOf(await gateway.kernel.session(id))).map(({ message }) => textsIn(message));
}
