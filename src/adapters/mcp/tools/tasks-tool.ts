import { z } from "zod";
import { fenceWithMark } from "../../../model/base/fence.ts";
import { parseOwner } from "../../../model/base/owner.ts";
import { sanitizeName } from "../../../recall/text/sanitize-text.ts";
import { textOutput } from "../schemas.ts";
import { defineTool } from "../tool-definition.ts";

const MAX_TASKS = 20;
const MAX_TITLE = 80;

/** Lists the tasks of the caller's sessions. */
export const tasksTool = defineTool({
  name: "tasks",
  title: "Tasks",
  description:
    "List the newest tasks of agents that longhaul runs: id, state, start, session, agent, and for a task of a queue the queue and the person.",
  input: z.object({
    queue: z.string().min(1).max(60).optional().describe("Only tasks of this queue."),
  }),
  output: textOutput,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  async run({ queue: wanted }, { service, caller }) {
    const { prefixes } = caller;
    const isOwn = (session: string) => prefixes?.some((prefix) => session.startsWith(prefix)) ?? true;
    const all = await service.kernel.tasks.list({
      limit: prefixes ? 1_000 : MAX_TASKS,
      ...(wanted !== undefined && { queue: wanted }),
    });
    const lines = all
      .filter(({ session }) => isOwn(session))
      .slice(0, MAX_TASKS)
      .map(({ id, state, session, agent, createdAt, queue, person, owner }) =>
        [
          sanitizeName(id),
          state,
          new Date(createdAt).toISOString().slice(0, 16),
          sanitizeName(session, MAX_TITLE),
          sanitizeName(agent, MAX_TITLE),
          ...(queue === undefined ? [] : [`queue ${sanitizeName(queue)}`]),
          ...(person === undefined ? [] : [`for ${sanitizeName(person, MAX_TITLE)}`]),
          ...(queue === undefined || owner === undefined
            ? []
            : [`on ${sanitizeName(parseOwner(owner).host, MAX_TITLE)}`]),
        ].join(" · "),
      );
    if (lines.length === 0) return { text: "There are no tasks." };
    return { text: `Newest first.\n${fenceWithMark("memory-data", lines.join("\n"))}` };
  },
});
