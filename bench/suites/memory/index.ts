import type { Suite } from "../../suite.ts";
import { recall } from "./recall.ts";
import { vectors } from "./vectors.ts";

/** Memory: vectors, indexing, recall, bytes. */
export const memory: Suite = { measurements: [vectors, recall] };
