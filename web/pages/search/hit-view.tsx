import type { ComponentChildren } from "preact";
import type { Reply } from "../../api/routes.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { formatAgo, formatTime } from "../../format/time.ts";
import { toPlainTitle } from "../../format/title.ts";
import { linkToEntry } from "../../shell/links.ts";
import { query } from "../../shell/router.ts";
import { searchText as text } from "./search-text.ts";

export type Hit = Reply<"GET /recall">["hits"][number];

const MAX_BEFORE = 220;
const MAX_SHOWN = 500;
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
  const { excerpt, words } = findExcerpt(hit);
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
      <div class="hit-text">
        <Markdown text={excerpt} marked={words} />
      </div>
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

/** The text around the best sentence, and the words of the question in it. */
function findExcerpt({ text: whole, details }: Hit): {
  readonly excerpt: string;
  readonly words: readonly string[];
} {
  const sentence = details?.sentence;
  if (!sentence) return { excerpt: whole.slice(0, MAX_SHOWN), words: [] };
  const first = Math.max(0, sentence.from - MAX_BEFORE);
  // Whole lines, so that a table or a list is not cut in its middle.
  const start = first === 0 ? 0 : Math.max(first, whole.lastIndexOf("\n", sentence.from) + 1);
  const end = Math.min(whole.length, Math.max(sentence.to, start + MAX_SHOWN));
  const excerpt = `${start > 0 ? "… " : ""}${whole.slice(start, end)}${end < whole.length ? " …" : ""}`;
  return { excerpt, words: sentence.words.map(({ from, to }) => whole.slice(from, to)) };
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
