import { useState } from "preact/hooks";
import type { Reply } from "../../api/routes.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { HitText } from "../../components/hit-text.tsx";
import { formatAgo, formatTime } from "../../format/time.ts";
import { toPlainTitle } from "../../format/title.ts";
import { linkToEntry } from "../../shell/links.ts";
import { HitSurroundings } from "./hit-surroundings.tsx";
import { findMemoryAgent, linkToMemories } from "./memory-links.ts";
import { memoryText as text } from "./memory-text.ts";
import { ScoreParts } from "./score-parts.tsx";

export type Hit = Reply<"GET /recall">["hits"][number];

const LIKELIHOODS = { "very likely": "veryLikely", likely: "likely", perhaps: "perhaps" } as const;

/** One hit: its place, its words, where it stands, and its score in parts. */
export function HitCard({ hit, place }: { readonly hit: Hit; readonly place: number }) {
  const [isOpen, setOpen] = useState(false);
  const { details } = hit;
  const facts = [
    details?.agent,
    details?.project,
    hit.kind === "session" ? (hit.speaker ?? hit.author) : null,
  ];
  return (
    <li class="hit card">
      <header class="hit-head">
        <span class="hit-place number">{place}</span>
        <span class="hit-origin">
          {hit.kind === "session" ? (
            <a href={linkToHit(hit)}>{toPlainTitle(details?.title ?? hit.session)}</a>
          ) : (
            <code>{`${hit.path}:${hit.lines.first}–${hit.lines.last}`}</code>
          )}
          <span class="dim hit-facts">
            {facts.filter(Boolean).join(" · ")}
            {facts.some(Boolean) && " · "}
            <time dateTime={new Date(hit.at).toISOString()} title={formatTime(hit.at)}>
              {formatAgo(hit.at)}
            </time>
          </span>
        </span>
        {details && <span class="pill">{text(LIKELIHOODS[details.likelihood])}</span>}
      </header>
      <HitText text={hit.text} sentence={details?.sentence} />
      {details?.work && details.work.changedFiles.length > 0 && (
        <p class="dim hit-files">
          {text("changedFiles")} <code>{details.work.changedFiles.slice(0, 4).join("  ")}</code>
        </p>
      )}
      <div class="hit-foot">
        <ScoreParts score={hit.score} parts={hit.parts} similarity={hit.similarity} />
        <p class="hit-actions">
          {hit.kind === "session" ? (
            <>
              <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
                {text(isOpen ? "hideAround" : "showAround")}
              </button>
              <CopyButton text={hit.entry} label={text("copyReference")} />
            </>
          ) : (
            <CopyButton text={hit.path} label={text("copyPath")} />
          )}
        </p>
      </div>
      {isOpen && hit.kind === "session" && <HitSurroundings entry={hit.entry} />}
      {hit.kind === "session" && hit.copies && hit.copies.length > 0 && (
        <details class="hit-copies">
          <summary>{text("copies", { count: hit.copies.length })}</summary>
          <ul>
            {hit.copies.map((copy) => (
              <li key={copy.entry}>
                <a href={linkToEntry(copy.session, Number(copy.entry.split("#").at(-1)))}>{copy.entry}</a>
                <span class="dim"> · {formatAgo(copy.at)}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

function linkToHit({ session, entry, seq }: Extract<Hit, { kind: "session" }>): string {
  const agent = findMemoryAgent(session);
  return agent === undefined ? linkToEntry(session, seq) : linkToMemories(agent, entry);
}
