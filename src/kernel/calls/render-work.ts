import { formatMoment } from "../../recall/retrieval/provenance.ts";
import { sanitizeName } from "../../recall/text/sanitize-text.ts";
import type { WorkHit } from "./work-history.ts";

const MAX_CHANGE = 160;
const MAX_REQUEST = 160;

/** One line for each hit: the step, then session entry, commit and time, and whether the file has changed since. */
export function renderWorkHit({ step, agent, error, confirmed, commit, hasChangedSince }: WorkHit): string {
  const what =
    step.kind === "edit"
      ? `edit of ${step.paths.map((path) => sanitizeName(path)).join(", ")}: ${sanitizeName(step.text, MAX_CHANGE)}`
      : `command ${sanitizeName(step.text, MAX_CHANGE)}`;
  const facts = [
    sanitizeName(step.entry),
    agent && sanitizeName(agent),
    formatMoment(step.at),
    commit && sanitizeName(`commit ${commit.hash ?? ""} ${commit.subject ?? ""}`.replace(/\s+/g, " "), 100),
    confirmed && `error gone at ${sanitizeName(confirmed)}`,
    hasChangedSince && "the file has changed since",
  ].filter(Boolean);
  const why = step.request ? `; asked: ${sanitizeName(step.request.text, MAX_REQUEST)}` : "";
  const cause = error === undefined ? "" : `${sanitizeName(error, MAX_REQUEST)} → `;
  return `${cause}${what} (${facts.join(", ")})${why}`;
}
