/** The family of a thread's session: a conversation with its titles, summaries and asides. */
export function getLoopFamily(session: string): string {
  return session.split("/").slice(0, 2).join("/");
}
