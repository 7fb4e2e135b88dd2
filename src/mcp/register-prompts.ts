import type { McpServer, ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import { compactInWords } from "./compaction-summary.ts";
import { summarizeContext } from "./context-summary.ts";
import { withOwnSession } from "./find-own-session.ts";
import { sessionNameSchema } from "./schemas.ts";
import type { McpCall } from "./tool-definition.ts";

const argsSchema = z.object({
  session: sessionNameSchema.optional().describe("id of a conversation; default: the newest of this project"),
});

type PromptCall = (context: ServerContext) => McpCall;

/** Registers the prompts `/context` and `/compact`, which contain their result: no tool is needed. */
export function registerPrompts(server: McpServer, toCall: PromptCall): void {
  const reply = (text: string) => ({
    messages: [{ role: "user" as const, content: { type: "text" as const, text } }],
  });
  server.registerPrompt(
    "context",
    { title: "Context", description: "Show the context window of a conversation", argsSchema },
    async ({ session }, context) => {
      const text = await withOwnSession(toCall(context), session, summarizeContext);
      return reply(`Show me this report, and nothing else:\n${text}`);
    },
  );
  server.registerPrompt(
    "compact",
    { title: "Compact", description: "Preview a summary of a conversation's older part", argsSchema },
    async ({ session }, context) => {
      const { signal } = context.mcpReq;
      const text = await withOwnSession(toCall(context), session, async (own) => {
        const preview = await compactInWords(own, { isDryRun: true, signal });
        return `${preview}\nTo apply it: longhaul compact ${JSON.stringify(own.id)}`;
      });
      return reply(`Show me this preview, and the command that applies it:\n${text}`);
    },
  );
}
