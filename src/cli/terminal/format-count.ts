/** Formats 12345 as "12,345". */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** Formats a count with its noun: "1 message", "2 messages". */
export function formatQuantity(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Counts conversations and names sub-agents as such: "12 conversations and 3 sub-agents". */
export function formatConversations(conversations: number, subAgents: number): string {
  const own = formatQuantity(conversations, "conversation");
  return subAgents === 0 ? own : `${own} and ${formatQuantity(subAgents, "sub-agent")}`;
}

/** Formats a share in whole percent; "" if `whole` is 0. */
export function formatShare(part: number, whole: number): string {
  return whole > 0 ? `${Math.round((100 * part) / whole)}%` : "";
}
