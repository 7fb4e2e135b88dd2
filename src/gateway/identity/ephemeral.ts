import type { MessageInput, Role } from "../../index.ts";
import { wordsOf } from "./request-facts.ts";
import { steadyText } from "./steady-text.ts";

/** What messages have in common that a client says for one request only. */
export interface EphemeralMark {
  readonly role: Role;
  /** Who spoke before it. */
  readonly after: Role | undefined;
  /** How it begins, without what changes from request to request. */
  readonly head: string;
}

const HEAD = 40;
const RAW_HEAD = 400;
const LEAST_HEAD = 8;
/** So many vanished messages at the same place show that what stands there vanishes, whatever it says. */
const ENOUGH = 2;

/** The mark of a message that follows another. */
export function ephemeralMark(message: MessageInput, before: MessageInput | undefined): EphemeralMark {
  const head = steadyText(wordsOf(message).slice(0, RAW_HEAD)).slice(0, HEAD);
  return { role: message.role, after: before?.role, head };
}

/** True for a message like those that have vanished before: it begins alike, or stands where they stood. */
export function looksEphemeral(vanished: readonly EphemeralMark[], message: EphemeralMark): boolean {
  if (message.role !== "user" && message.role !== "system") return false;
  const alike = vanished.filter(({ role }) => role === message.role);
  if (message.head.length >= LEAST_HEAD && alike.some(({ head }) => head === message.head)) return true;
  const isBehindInput = message.after === "user" || message.after === "tool";
  const heads = new Set(alike.filter(({ after }) => after === message.after).map(({ head }) => head));
  return isBehindInput && heads.size >= ENOUGH;
}
