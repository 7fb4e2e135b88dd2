import type { Message } from "../../model/message.ts";
import { identifiersOf } from "../extract/identifiers.ts";
import { saidIn } from "../extract/said.ts";
import type { Slot } from "../slot.ts";

/** Names listed in a receipt, and characters of a tool's output that are looked through for them. */
const MOST_NAMED = 50;
const MOST_CHARACTERS = 4_000;

/** Identifiers that were in the window before and are in it no more, the most used first. */
export function namesLeft(
  before: readonly Slot[],
  after: readonly Slot[],
): { readonly identifiers: number; readonly named: readonly string[] } {
  const stays = new Set(after.map(({ message }) => message));
  const counts = new Map<string, number>();
  for (const { message } of before) {
    if (stays.has(message)) continue;
    namesIn(message, (name) => counts.set(name, (counts.get(name) ?? 0) + 1));
  }
  if (counts.size === 0) return { identifiers: 0, named: [] };
  for (const { message } of after) namesIn(message, (name) => counts.delete(name));
  const named = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([name]) => name);
  return { identifiers: named.length, named: named.slice(0, MOST_NAMED) };
}

function namesIn(message: Message, tell: (name: string) => void): void {
  for (const { text, origin } of saidIn(message, () => undefined)) {
    const isOutput = origin === "result" || origin === "read";
    identifiersOf(isOutput ? text.slice(0, MOST_CHARACTERS) : text, false, tell);
  }
}
