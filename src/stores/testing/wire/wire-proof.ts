import type { Wire } from "../../../wire/wire.ts";
import type { WireSample } from "./wire-sample.ts";

/** One requirement of every wire: its name, and a proof. */
export type WireProof = readonly [name: string, prove: (wire: Wire, sample: WireSample) => Promise<void>];
