import { useState } from "preact/hooks";
import { AnsiText, hasAnsi } from "../../components/ansi-text.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { formatCount } from "../../format/number.ts";
import { isDiff, parseDiff } from "../../session/diff.ts";
import { DiffView } from "../../session/diff-view.tsx";
import { conversationText as text } from "./conversation-text.ts";

/** Longer texts show their beginning until the reader asks for the rest: rendering them would block the page. */
const MAX_CHARACTERS = 12_000;

interface LongTextProps {
  readonly content: string;
  /** Markdown for messages; plain text for the output of tools, where diffs are shown as such. */
  readonly isMarkdown?: boolean;
  /** Characters that the log itself keeps elsewhere. */
  readonly hidden?: number;
  /** Loads the rest that the log keeps elsewhere. */
  readonly onWhole?: () => void;
}

/** A text of any length. */
export function LongText({ content, isMarkdown = false, hidden = 0, onWhole }: LongTextProps) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? content : content.slice(0, MAX_CHARACTERS);
  const rest = content.length - shown.length + hidden;
  return (
    <>
      {isMarkdown ? (
        <Markdown text={shown} />
      ) : isDiff(shown) ? (
        <DiffView lines={parseDiff(shown)} />
      ) : (
        <pre class="plain-text">{hasAnsi(shown) ? <AnsiText text={shown} /> : shown}</pre>
      )}
      {rest > 0 && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            setWhole(true);
            if (hidden > 0) onWhole?.();
          }}
        >
          {text("showMore", { count: formatCount(rest) })}
        </button>
      )}
    </>
  );
}
