import { useEffect, useRef, useState } from "preact/hooks";
import { ErrorState } from "../../components/error-state.tsx";
import { linkToSession } from "../../shell/links.ts";
import { OutputEntry } from "./output-entry.tsx";
import { tasksText as text } from "./tasks-text.ts";
import { useOutput } from "./use-output.ts";

interface TaskOutputProps {
  readonly id: string;
  readonly session: string;
  readonly isLive: boolean;
}

/** The output of a task as it comes. It stays at the end while the reader is there. */
export function TaskOutput({ id, session, isLive }: TaskOutputProps) {
  const { entries, isCut, isFollowing, failure } = useOutput(id, session);
  const [isAtEnd, setAtEnd] = useState(true);
  const box = useRef<HTMLDivElement>(null);
  const last = entries.at(-1)?.seq;
  useEffect(() => {
    if (isAtEnd && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [last, isAtEnd]);
  return (
    <section class="section">
      <div class="section-head">
        <h2>{text("output")}</h2>
        {isLive && isFollowing && (
          <label class="follow">
            <input
              type="checkbox"
              checked={isAtEnd}
              onChange={(event) => setAtEnd(event.currentTarget.checked)}
            />
            {text("follow")}
          </label>
        )}
      </div>
      {failure && <ErrorState failure={failure} />}
      {isCut && (
        <p class="dim">
          {text("older")}: <a href={linkToSession(session)}>{text("inConversation")}</a>
        </p>
      )}
      <div
        ref={box}
        class="output card"
        role="log"
        aria-label={text("output")}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        onScroll={(event) => {
          const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
          setAtEnd(scrollHeight - scrollTop - clientHeight < 24);
        }}
      >
        {entries.map((entry) => (
          <OutputEntry key={entry.seq} entry={entry} />
        ))}
        {entries.length === 0 && <p class="dim">{text(isFollowing ? "noOutputYet" : "noOutput")}</p>}
      </div>
    </section>
  );
}
