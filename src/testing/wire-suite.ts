import type { Wire } from "../wire/wire.ts";
import { faultCases } from "./wire/fault-cases.ts";
import { messageCases } from "./wire/message-cases.ts";
import { replyCases } from "./wire/reply-cases.ts";
import { usageCases } from "./wire/usage-cases.ts";
import type { WireSample } from "./wire/wire-sample.ts";

/** One requirement of every wire; `run` rejects if the wire does not meet it. */
export interface WireCase {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** The contract of a wire, for any test runner: `for (const { name, run } of wireSuite(wire, sample)) test(name, run)`. */
export function wireSuite(wire: Wire, sample: WireSample): readonly WireCase[] {
  const proofs = [...messageCases, ...replyCases, ...usageCases, ...faultCases];
  return proofs.map(([name, prove]) => ({ name, run: async () => prove(wire, sample) }));
}
