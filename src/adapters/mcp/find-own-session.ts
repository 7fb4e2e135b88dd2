import type { Kernel, Session } from "../../kernel/index.ts";
import { isNamedSession } from "../../model/session-key.ts";
import type { McpCall } from "./tool-definition.ts";

/**
 * Runs `work` on a session of the caller: the named one, else the running one if it is known, else the newest of the
 * project. Returns a sentence for the model if there is none.
 */
export async function withOwnSession<Result>(
  { service, caller, findProjects }: McpCall,
  wanted: string | undefined,
  work: (session: Session, kernel: Kernel) => Promise<Result>,
): Promise<Result | string> {
  const { kernel } = service;
  const { conversations } = service.getState(caller);
  const own = await conversations.list();
  const name = wanted?.trim() ?? caller.session;
  const found =
    name === undefined
      ? (await conversations.within(await findProjects())).sessions[0]
      : own.find(({ id }) => isNamedSession(id, name))?.id;
  if (found === undefined || !(await kernel.find(found)))
    return wanted === undefined
      ? "There is no conversation in this project yet; name one of sessions."
      : `There is no conversation ${JSON.stringify(wanted.slice(0, 200))}; sessions lists them.`;
  await using session = await kernel.session(found);
  return await work(session, kernel);
}
