import { type ToolSet, tool } from "ai";
import { z } from "zod";
import { type AiSdkAgentOptions, aiSdkAgent } from "../../../../src/adapters/ai/index.ts";
import type { Agent, Session, StartOptions, TaskStatus } from "../../../../src/kernel/index.ts";
import { type Speaking, speaking } from "../speaking.ts";

/** An agent and a server that plays its provider. */
export interface Running extends Speaking {
  agent(options?: Partial<AiSdkAgentOptions>): Agent<Session>;
  /** Runs a task in the test's session to its end. */
  run(input?: string, options?: Partial<AiSdkAgentOptions>, start?: StartOptions): Promise<TaskStatus>;
}

/** A weather tool. */
export const tools: ToolSet = {
  weather: tool({
    description: "Tells the weather of a city",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => `${city}: ${city.length} degrees`,
  }),
};

/** Creates the fixtures of one test; closed afterwards. */
export async function running(): Promise<Running> {
  const spoken = await speaking();
  const { kernel, session, plain } = spoken;
  const agent: Running["agent"] = (options) =>
    aiSdkAgent({ kernel, name: "tester", model: plain(), tools, call: { maxRetries: 0 }, ...options });
  return {
    ...spoken,
    agent,
    run: (input = "How is it?", options, start) =>
      kernel.tasks.run(agent(options), input, { session: session.id, ...start }),
  };
}

/** A reply that calls a tool. */
export function calling(id: string, name: string, input: object, text?: string) {
  const reply = { ...(text !== undefined && { text }), toolCalls: [{ id, name, input }] };
  return { type: "reply", reply } as const;
}
