import type { Json, Session, SessionId } from "../../index.ts";

type Meta = { readonly [key: string]: Json };

/**
 * Puts up a sign where a conversation goes on that began elsewhere: a child of its session that holds nothing and is found
 * by its id, also after a restart.
 */
export function putSign(of: Session, id: SessionId): Promise<Session> {
  return of.child({ id, meta: { gateway: { goesOnIn: of.id } } });
}

/** The session that a sign points to; undefined for a session that is none. */
export function signedTo(meta: Meta | undefined): SessionId | undefined {
  const mark = meta?.gateway;
  const to = typeof mark === "object" && mark !== null && "goesOnIn" in mark ? mark.goesOnIn : undefined;
  return typeof to === "string" ? to : undefined;
}
