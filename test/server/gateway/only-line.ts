import { expect } from "vitest";
import { lineOf, type TestGateway, threadsOf } from "../../support/gateway.ts";
import { textsIn } from "./said.ts";

/** The line of a gateway's only thread, or of its only thread of a kind. */
export async function onlyLine(gateway: TestGateway, kind?: string): Promise<readonly string[]> {
  const threads = await threadsOf(gateway, kind);
  expect(threads).toHaveLength(1);
  return lineOfThread(gateway, threads[0]?.id);
}

/** The line of a thread. */
export async function lineOfThread(gateway: TestGateway, id: string | undefined): Promise<readonly string[]> {
  return (await lineOf(await gateway.kernel.session(id))).map(({ message }) => textsIn(message));
}
