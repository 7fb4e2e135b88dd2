import type { Suite } from "../../suite.ts";
import { recall } from "./recall.ts";
import { vectors } from "./vectors.ts";

/** Vectors, indexing and recall of memory. */
export const memory: Suite = { measurements: [vectors, recall] };
