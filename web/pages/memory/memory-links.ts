/** The address of an agent's memories, or of one of them. */
export function linkToMemories(agent: string, memory?: string): string {
  const query = new URLSearchParams({ agent, ...(memory !== undefined && { memory }) });
  return `/memory/memories?${query}`;
}

/** The agent whose memories a session holds; undefined for a conversation. */
export function findMemoryAgent(session: string): string | undefined {
  return session.startsWith("memory:") ? session.slice("memory:".length) : undefined;
}
