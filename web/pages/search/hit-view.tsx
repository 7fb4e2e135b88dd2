import type { ComponentChildren } from "preact";
import type { Reply } from "../../api/routes.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { HitText } from "../../components/hit-text.tsx";
import { formatAgo, formatTime } from "../../format/time.ts";
import { toPlainTitle } from "../../format/title.ts";
import { linkToEntry } from "../../shell/links.ts";
import { query } from "../../shell/router.ts";
import { searchText as text } from "./search-text.ts";

export type Hit = Reply<"GET /recall">["hits"][number];

const MAX_SENTENCE = 140;
const MAX_OTHERS = 3;
const MAX_FILES = 3;
const LIKELIHOODS = { "very likely": "veryLikely", likely: "likely", perhaps: "perhaps" } as const;

/** One conversation or file: its best hit, the way back into it, and links to its other hits. */
export function HitView({ hits }: { readonly hits: readonly [Hit, ...Hit[]] }) {
  const [hit, ...others] = hits;
  const { details } = hit;
  const title = details?.title
    ? toPlainTitle(details.title)
    : hit.kind === "session"
      ? text("untitled", { time: formatTime(hit.at) })
      : hit.path;
  return (
    <li class="hit">
      <div class="hit-head">
        {hit.kind === "session" ? (
          <a href={linkToEntry(hit.session, hit.seq)}>{title}</a>
        ) : (
          <b>
            {hit.path}:{hit.lines.first}
          </b>
        )}
        {details && <span class="dim">{text(LIKELIHOODS[details.likelihood])}</span>}
        {hit.kind === "session" && hit.resume && (
          <span class="hit-resume">
            <CopyButton text={hit.resume} label={text("continue")} />
          </span>
        )}
      </div>
      <HitText text={hit.text} sentence={details?.sentence} />
      <p class="dim facts">{listFacts(hit)}</p>
      {others.length > 0 && (
        <ul class="more-hits">
          {others.slice(0, MAX_OTHERS).map((other) => (
            <li key={other.from}>
              {other.kind === "session" ? (
                <a href={linkToEntry(other.session, other.seq)}>{findSentence(other)}</a>
              ) : (
                findSentence(other)
              )}
            </li>
          ))}
          {others.length > MAX_OTHERS && (
            <li class="dim">{text("otherHits", { count: String(others.length - MAX_OTHERS) })}</li>
          )}
        </ul>
      )}
    </li>
  );
}

/** The best sentence of a hit, in one line. */
function findSentence({ text: whole, details }: Hit): string {
  const { from = 0, to = MAX_SENTENCE } = details?.sentence ?? {};
  return whole
    .slice(from, Math.min(to, from + MAX_SENTENCE))
    .replace(/\s+/g, " ")
    .trim();
}

function listFacts(hit: Hit): ComponentChildren {
  const { details } = hit;
  const narrow = (name: string, value: string) => {
    const next = new URLSearchParams(query.value);
    next.set(name, value);
    return `/search?${next}`;
  };
  const changed = details?.work?.changedFiles ?? [];
  const files = changed.slice(0, MAX_FILES).map((path) => path.split("/").at(-1));
  const facts: ComponentChildren[] = [
    <time key="time" title={formatTime(hit.at)}>
      {formatAgo(hit.at)}
    </time>,
    hit.kind === "session" && (hit.speaker ?? hit.author),
    details?.agent && (
      <a key="agent" href={narrow("agent", details.agent)}>
        {details.agent}
      </a>
    ),
    details?.project && (
      <a key="project" href={narrow("project", details.project)}>
        {details.project}
      </a>
    ),
    files.length > 0 && text("changed", { files: files.join(", ") }),
    details?.work?.commit?.subject,
  ];
  return facts.filter(Boolean).flatMap((fact, index) => (index === 0 ? [fact] : [" · ", fact]));
}
