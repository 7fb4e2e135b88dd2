import type {
  CallToolResult,
  InputRequiredResult,
  ServerContext,
  ToolAnnotations,
} from "@modelcontextprotocol/server";
import type { z } from "zod";
import type { Json } from "../../kernel/index.ts";
import type { McpCaller, McpService } from "./mcp-service.ts";

/** One request and its surroundings. */
export interface McpCall {
  readonly service: McpService;
  readonly caller: McpCaller;
  /** Folders that the caller works in, perhaps asked from the client; empty if unknown. */
  readonly findProjects: () => Promise<readonly string[]>;
  readonly context: ServerContext;
  /** True if the client can ask its user a question in the course of a request. */
  readonly canAskUser: boolean;
}

/** The reply of a tool: text for a model, and further fields for programs. */
interface ToolReply {
  readonly text: string;
  readonly fields?: { readonly [name: string]: Json };
  /** True if the call was wrong and another one may succeed. */
  readonly isError?: boolean;
}

/** A tool, independent of a connection. */
export interface ToolDefinition<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  /** The schema of the reply: its text and further fields. */
  readonly output: z.ZodObject;
  readonly annotations: ToolAnnotations;
  readonly run: (input: z.infer<Input>, call: McpCall) => Promise<ToolReply | InputRequiredResult>;
}

/** Types `run` by the input, so that a tool cannot read a field that it does not declare. */
export function defineTool<Input extends z.ZodObject>(tool: ToolDefinition<Input>): ToolDefinition {
  return tool as unknown as ToolDefinition;
}

/** The reply as a result of the protocol: clients read either the text or the structured content. */
export function toToolResult({ text, fields, isError }: ToolReply): CallToolResult {
  return {
    content: [{ type: "text", text }],
    structuredContent: { text, ...fields },
    ...(isError && { isError }),
  };
}

/** A reply to a call that was wrong. */
export function refuseCall(text: string): ToolReply {
  return { text, isError: true };
}
