import { z } from "zod";
import { textOutput } from "../schemas.ts";
import { defineTool } from "../tool-definition.ts";

/** Saves a memory as a note of the agent, or as a quote. */
export const rememberTool = defineTool({
  name: "remember",
  title: "Remember",
  description:
    "Save one fact for all later conversations: a decision, a preference, where something is. One or two sentences that stand alone.",
  input: z.object({
    text: z.string().min(1).max(20_000),
    quoted: z.boolean().optional().describe("true for words of a file, page or tool result"),
  }),
  output: textOutput,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run({ text, quoted }, { service, caller }) {
    const { memory } = service.getState(caller);
    const [project] = caller.projects ?? [];
    const source = caller.session;
    return {
      text: await memory.save(text, {
        isQuoted: quoted === true,
        ...(source !== undefined && { source }),
        ...(project !== undefined && { project }),
      }),
    };
  },
});
