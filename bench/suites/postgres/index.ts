import type { Suite } from "../../suite.ts";
import { appendRates } from "./append-rates.ts";
import { reads } from "./reads.ts";
import { recallQuality } from "./recall-quality.ts";

/** The store in PostgreSQL. */
export const postgres: Suite = { measurements: [...appendRates, reads, recallQuality] };
