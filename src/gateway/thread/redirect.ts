import type { Json, Session, SessionId } from "../../index.ts";

type Meta = { readonly [key: string]: Json };

/**
 * Creates a redirect for a conversation that continues under another first message: an empty child session that is
 * found by its id, even after a restart.
 */
export function createRedirect(target: Session, id: SessionId): Promise<Session> {
  return target.child({ id, meta: { gateway: { goesOnIn: target.id } } });
}

/** The session that a redirect points to; undefined for any other session. */
export function parseRedirect(meta: Meta | undefined): SessionId | undefined {
  const mark = meta?.gateway;
  const to = typeof mark === "object" && mark !== null && "goesOnIn" in mark ? mark.goesOnIn : undefined;
  return typeof to === "string" ? to : undefined;
}
