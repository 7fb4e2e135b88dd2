import type { Contestant } from "../../peers/contestant.ts";
import { langgraph } from "../../peers/langgraph.ts";
import { mastra } from "../../peers/mastra.ts";
import { pi } from "../../peers/pi.ts";
import { wholeArray } from "../../peers/whole-array.ts";
import { longhaul } from "./longhaul.ts";

/** Stores nothing: measures the bench itself, which generates and encodes the same data. */
const nothing: Contestant = {
  name: "nothing",
  open: async () => ({
    append: async () => undefined,
    appendImage: async (bytes) => void Buffer.from(bytes).toString("base64"),
    last: async () => [],
    close: async () => undefined,
  }),
};

const CONTESTANTS = [longhaul, pi, mastra, langgraph, wholeArray, nothing] as const;

/** The contestant of a name. */
export function contestantOf(name: string): Contestant {
  const contestant = CONTESTANTS.find((one) => one.name === name);
  if (!contestant) throw new Error(`No contestant is called ${name}.`);
  return contestant;
}
