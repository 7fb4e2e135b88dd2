import { z } from "zod";
import { summarizeContext } from "../context-summary.ts";
import { withOwnSession } from "../find-own-session.ts";
import { sessionNameSchema, textOutput } from "../schemas.ts";
import { defineTool } from "../tool-definition.ts";

/** Shows the window of a conversation. */
export const contextTool = defineTool({
  name: "context",
  title: "Context",
  description: "Show the context window of a conversation: its size by parts, and what was removed from it.",
  input: z.object({ session: sessionNameSchema.optional().describe("default: the newest of this project") }),
  output: textOutput,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  async run({ session }, call) {
    return { text: await withOwnSession(call, session, summarizeContext) };
  },
});
