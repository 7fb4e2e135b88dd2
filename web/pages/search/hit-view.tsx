import type { ComponentChildren } from "preact";
import type { Reply } from "../../api/routes.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { formatAgo, formatTime } from "../../format/time.ts";
import { toPlainTitle } from "../../format/title.ts";
import { linkToEntry } from "../../shell/links.ts";
import { query } from "../../shell/router.ts";
import { searchText as text } from "./search-text.ts";

type Hit = Reply<"GET /recall">["hits"][number];

const MAX_BEFORE = 220;
const MAX_SHOWN = 700;
const MAX_FILES = 3;
const LIKELIHOODS = { "very likely": "veryLikely", likely: "likely", perhaps: "perhaps" } as const;

/** One hit: where it was said, the words, and the way back into the conversation. */
export function HitView({ hit }: { readonly hit: Hit }) {
  const { details } = hit;
  const title = details?.title
    ? toPlainTitle(details.title)
    : hit.kind === "session"
      ? hit.session
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
            <code>{hit.resume}</code> <CopyButton text={hit.resume} />
          </span>
        )}
      </div>
      <blockquote>{markWords(hit)}</blockquote>
      <p class="dim facts">{listFacts(hit)}</p>
    </li>
  );
}

/** The text around the best sentence, with the words of the question marked. */
function markWords({ text: whole, details }: Hit): ComponentChildren {
  const sentence = details?.sentence;
  if (!sentence) return whole.length > MAX_SHOWN ? `${whole.slice(0, MAX_SHOWN)}…` : whole;
  const first = Math.max(0, sentence.from - MAX_BEFORE);
  const last = Math.min(whole.length, Math.max(sentence.to, first + MAX_SHOWN));
  const pieces: ComponentChildren[] = [first > 0 && "…"];
  let at = first;
  for (const { from, to } of sentence.words) {
    pieces.push(whole.slice(at, from), <mark key={from}>{whole.slice(from, to)}</mark>);
    at = to;
  }
  pieces.push(whole.slice(at, last), last < whole.length && "…");
  return pieces;
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
    hit.kind === "session" && <code key="entry">{hit.entry}</code>,
  ];
  return facts.filter(Boolean).flatMap((fact, index) => (index === 0 ? [fact] : [" · ", fact]));
}
