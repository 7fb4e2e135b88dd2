import { expect } from "vitest";
import type { WireName } from "../../../src/wire/wire.ts";
import { getWire } from "../../../src/wire/wires.ts";
import { TestAgent } from "../../support/agent.ts";
import { logOf, type TestGateway, threadsOf } from "../../support/gateway.ts";
import { output } from "./limited.ts";
import { textsIn } from "./said.ts";

/** Amount of an agent's work. */
export interface Work {
  readonly api: WireName;
  readonly turns: number;
  /** Characters of each tool output. */
  readonly characters: number;
  /** Maximum tokens that may ever be reported to the client. */
  readonly clientWindow: number;
}

/** The model's reply in a long session. */
export function working(turn: number) {
  const call = { id: `call_${turn}`, name: "read_file", input: { path: `src/part${turn % 50}/file.ts` } };
  return {
    text: `Step ${turn}: I read the next file.`,
    reasoning: `Thinking about ${turn}.`,
    toolCalls: [call],
  };
}

/** Works for `turns` turns; fails if the client ever sees an overflow or more tokens than its window. */
export async function workOn(gateway: TestGateway, work: Work): Promise<TestAgent> {
  const { api, turns, characters, clientWindow } = work;
  const agent = new TestAgent(gateway, api);
  let reply = await agent.say(
    "Go through all files of the project, one by one, and keep a list of what is wrong.",
  );
  for (let turn = 1; turn < turns; turn++) {
    const outputs = reply.calls.map(() => output(turn, turn % 9 === 0 ? 3 * characters : characters));
    reply = await agent.hand(reply.calls, ...outputs);
    expect(reply.inputTokens).toBeLessThanOrEqual(clientWindow);
  }
  return agent;
}

/** Checks that the log of the only conversation contains the client's messages, each once and in order. */
export async function expectWholeLog(gateway: TestGateway, agent: TestAgent, api: WireName): Promise<void> {
  const [main, ...others] = await threadsOf(gateway);
  expect(others).toEqual([]);
  const log = (await logOf(await gateway.kernel.session(main?.id))).map(({ message }) => textsIn(message));
  expect(log).toEqual(
    getWire(api)
      .decode(agent.elements)
      .map(({ input }) => textsIn(input)),
  );
}
