import { z } from "zod";
import { textOutput } from "../schemas.ts";
import { defineTool } from "../tool-definition.ts";

const MAX_AROUND = 20;

/** Shows the entry of a citation verbatim, with its neighbors. */
export const expandTool = defineTool({
  name: "expand",
  title: "Expand",
  description: "Show the full text behind a citation, with the messages around it.",
  input: z.object({
    cite: z.string().min(1).max(2_000).describe("as shown, like chat-7#12"),
    around: z.int().min(0).max(MAX_AROUND).optional().describe("messages before and after; default 1"),
    from: z.int().min(0).optional().describe("characters to skip in a long entry"),
  }),
  output: textOutput,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  async run({ cite, around, from }, { service, caller }) {
    const { memory } = service.getState(caller);
    const text = await memory.expand(cite, {
      ...(around !== undefined && { around }),
      ...(from !== undefined && { from }),
    });
    return { text };
  },
});
