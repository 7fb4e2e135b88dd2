import type { Suite } from "../../suite.ts";
import { fromNothing } from "./from-nothing.ts";

/** The first hour of a new user. */
export const firstRun: Suite = { measurements: [fromNothing] };
