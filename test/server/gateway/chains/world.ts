import { startGateway, type TestGateway } from "../../../support/gateway.ts";
import { output } from "../limited.ts";
import { type KeepingOptions, type KeepingUpstream, startKeepingUpstream, wordsIn } from "./chained.ts";

/** A provider that stores responses, and a gateway in front of it. */
export interface ChainWorld {
  readonly upstream: KeepingUpstream;
  readonly gateway: TestGateway;
  /** Closes the gateway and starts another on its store. */
  restart(): Promise<TestGateway>;
  /** The last conversation as the provider sees it: one line per item. */
  lastWords(): readonly string[];
}

/** Starts provider and gateway for one test. */
export async function startWorld(options: KeepingOptions = {}, config: object = {}): Promise<ChainWorld> {
  const upstream = await startKeepingUpstream(options);
  const gateway = await startGateway({ upstream: upstream.url, config: { ...config } });
  return {
    upstream,
    gateway,
    restart: async () => {
      await gateway.close();
      return startGateway({ upstream: upstream.url, path: gateway.path, config: { ...config } });
    },
    lastWords: () => wordsIn(upstream.contexts.at(-1) ?? []),
  };
}

/** A model at long work: each of its turns calls a tool. */
export const working = (index: number) => ({
  text: `Step ${index}.`,
  toolCalls: [{ id: `call_${index}`, name: "read_file", input: { path: `/repo/file${index}.ts` } }],
});

/** The tool output of a turn. */
export const outputOf = (turn: number) => [
  { type: "function_call_output", call_id: `call_${turn}`, output: output(turn, 4_000) },
];

/** The first messages of long work. */
export const LONG_WORK = [
  { role: "developer", content: "Always answer in verse." },
  { role: "user", content: "Read all files of the project." },
];
