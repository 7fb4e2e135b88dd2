import type { ToolSet } from "../mcp-service.ts";
import type { ToolDefinition } from "../tool-definition.ts";
import { compactTool } from "./compact-tool.ts";
import { contextTool } from "./context-tool.ts";
import { expandTool } from "./expand-tool.ts";
import { forgetTool } from "./forget-tool.ts";
import { pinsTool } from "./pins-tool.ts";
import { recallTool } from "./recall-tool.ts";
import { rememberTool } from "./remember-tool.ts";
import { sessionsTool } from "./sessions-tool.ts";
import { tasksTool } from "./tasks-tool.ts";

const DEFAULT_TOOLS: readonly ToolDefinition[] = [
  recallTool,
  expandTool,
  rememberTool,
  forgetTool,
  sessionsTool,
];

/** Tools in the order of their listing, which is always the same: it is part of a prompt that providers cache. */
export const TOOLS: Readonly<Record<ToolSet, readonly ToolDefinition[]>> = {
  default: DEFAULT_TOOLS,
  all: [...DEFAULT_TOOLS, contextTool, compactTool, pinsTool, tasksTool],
};
