import { z } from "zod";
import { compactInWords } from "../compaction-summary.ts";
import { withOwnSession } from "../find-own-session.ts";
import { sessionNameSchema, textOutput } from "../schemas.ts";
import { defineTool } from "../tool-definition.ts";

/** Summarizes the older part of a conversation's window; a dry run unless asked otherwise. */
export const compactTool = defineTool({
  name: "compact",
  title: "Compact",
  description:
    "Replace the older part of a conversation's window by a summary; the log keeps everything, and it can be undone. A dry run unless apply is true.",
  input: z.object({ session: sessionNameSchema, apply: z.boolean().optional() }),
  output: textOutput,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run({ session, apply }, call) {
    const { signal } = call.context.mcpReq;
    const text = await withOwnSession(call, session, (own) =>
      compactInWords(own, { isDryRun: apply !== true, signal }),
    );
    return { text };
  },
});
