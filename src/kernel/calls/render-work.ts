import { formatMoment, PLACES } from "../../recall/retrieval/provenance.ts";
import { sanitizeName, sanitizeText } from "../../recall/text/sanitize-text.ts";
import type { WorkHit } from "./work-history.ts";

const MAX_CHANGE = 160;
const MAX_REQUEST = 160;
const MAX_COMMAND = 300;

/** A command that cannot be quoted; its entry has it in full. */
const UNQUOTED = "a command that is too long or too strange to be quoted; expand the entry";

/**
 * A command in a code span, byte for byte as it ran: a command with a sign less is another command. Undefined if it has
 * several lines, was cut, or has signs that could pass for others.
 */
function quoteCommand(text: string): string | undefined {
  const isWhole = !text.includes("\n") && !text.endsWith("…") && text.length <= MAX_COMMAND;
  if (!isWhole || text.trim() === "" || sanitizeText(text) !== text) return undefined;
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return longest === 0 ? `command ${fence}${text}${fence}` : `command ${fence} ${text} ${fence}`;
}

/** One line for each hit: the step, then session entry, commit and time, and whether the file has changed since. */
export function renderWorkHit({
  step,
  agent,
  error,
  confirmed,
  commit,
  place,
  hasChangedSince,
}: WorkHit): string {
  const what =
    step.kind === "edit"
      ? `edit of ${step.paths.map((path) => sanitizeName(path)).join(", ")}: ${sanitizeName(step.text, MAX_CHANGE)}`
      : (quoteCommand(step.text) ?? UNQUOTED);
  const facts = [
    sanitizeName(step.entry),
    agent && sanitizeName(agent),
    formatMoment(step.at),
    commit && sanitizeName(`commit ${commit.hash ?? ""} ${commit.subject ?? ""}`.replace(/\s+/g, " "), 100),
    confirmed && `error gone at ${sanitizeName(confirmed)}`,
    hasChangedSince && "the file has changed since",
    place && PLACES[place],
  ].filter(Boolean);
  const why = step.request ? `; asked: ${sanitizeName(step.request.text, MAX_REQUEST)}` : "";
  const cause = error === undefined ? "" : `${sanitizeName(error, MAX_REQUEST)} → `;
  return `${cause}${what} (${facts.join(", ")})${why}`;
}
