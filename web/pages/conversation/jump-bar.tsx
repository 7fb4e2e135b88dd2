import { formatCount } from "../../format/number.ts";
import { conversationText as text } from "./conversation-text.ts";
import type { LoadedEntries } from "./entry-pages.ts";

interface JumpBarProps {
  readonly loaded: LoadedEntries;
  /** Number of entries in the log. */
  readonly total: number;
  readonly hasNew: boolean;
  readonly onStart: () => void;
  readonly onEnd: () => void;
  readonly onEntry: (seq: number) => void;
}

/** Where the reader is, and the ways to elsewhere. */
export function JumpBar({ loaded, total, hasNew, onStart, onEnd, onEntry }: JumpBarProps) {
  const { entries, hasOlder, isAtEnd } = loaded;
  return (
    <footer class="jump-bar">
      <button type="button" class="quiet" onClick={onStart} disabled={!hasOlder}>
        ↑ {text("toStart")}
      </button>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const field = event.currentTarget.elements.namedItem("entry") as HTMLInputElement;
          const seq = Number(field.value.replace(/^#/, ""));
          if (Number.isInteger(seq) && seq > 0) onEntry(seq);
          field.value = "";
        }}
      >
        <input
          name="entry"
          inputMode="numeric"
          pattern="#?[0-9]{1,10}"
          data-go
          aria-label={text("goToEntry")}
          placeholder={`#${entries[0]?.seq ?? 0}–${entries.at(-1)?.seq ?? 0}`}
          title={text("goToEntry")}
          autocomplete="off"
        />
        <span class="dim number">{text("ofEntries", { count: formatCount(total) })}</span>
      </form>
      <button type="button" class={hasNew ? "primary" : "quiet"} onClick={onEnd}>
        {text(hasNew ? "newMessages" : "toEnd")} {isAtEnd && !hasNew ? "" : "↓"}
      </button>
    </footer>
  );
}
