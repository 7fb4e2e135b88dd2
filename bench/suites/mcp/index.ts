import type { Suite } from "../../suite.ts";
import { answers } from "./answers.ts";

/** The MCP server as agents start it. */
export const mcp: Suite = { measurements: [answers] };
