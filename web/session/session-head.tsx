import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { formatCount } from "../format/number.ts";
import { formatAgo, formatTime } from "../format/time.ts";
import { toPlainTitle } from "../format/title.ts";
import { shellText } from "../i18n/shell-text.ts";
import { linkToSession, linkToWindow } from "../shell/links.ts";
import { sessionText as text } from "./session-text.ts";
import type { Session } from "./session-types.ts";
import "./session.css";

interface SessionHeadProps {
  readonly id: string;
  readonly session: Session | undefined;
  readonly current: "conversation" | "window";
  readonly children?: ComponentChildren;
}

/** The head of the pages of one conversation: its title, its facts, and the way to the other pages. */
export function SessionHead({ id, session, current, children }: SessionHeadProps) {
  const title = toPlainTitle(session?.title || text("untitled"));
  useEffect(() => {
    if (session) document.title = `${title} · longhaul`;
  }, [session, title]);
  return (
    <header class="session-head">
      <div class="session-line">
        <h1 title={title}>{session ? title : " "}</h1>
        <nav class="tabs" aria-label={text("views")}>
          <a href={linkToSession(id)} aria-current={current === "conversation" ? "page" : undefined}>
            {text("conversation")}
          </a>
          <a href={linkToWindow(id)} aria-current={current === "window" ? "page" : undefined}>
            {text("window")}
          </a>
        </nav>
      </div>
      <div class="session-line">
        <p class="facts dim">{session ? <Facts session={session} /> : " "}</p>
        {children}
      </div>
    </header>
  );
}

function Facts({ session }: { readonly session: Session }) {
  const { agent, project, model, entries, isWriting, parent, relation } = session;
  // An imported conversation was last used when its agent says, not when it was imported.
  const usedAt = session.usedAt ?? session.lastRequest?.at ?? session.lastEntryAt;
  return (
    <>
      {isWriting && <span class="live">{shellText("live")}</span>}
      {agent && <span>{agent}</span>}
      {project && <span>{project}</span>}
      {model && <span class="minor">{model}</span>}
      <span class="number">{text("entries", { count: formatCount(entries) })}</span>
      {usedAt !== undefined && (
        <time title={formatTime(usedAt)} class="minor">
          {formatAgo(usedAt)}
        </time>
      )}
      {parent && (
        <a href={linkToSession(parent)}>
          {text(relation === "fork" ? "forkOf" : "partOf", { title: text("parent") })}
        </a>
      )}
    </>
  );
}
