import { useRef } from "preact/hooks";
import { toFailure } from "../../api/api-failure.ts";
import { showToast } from "../../components/toasts.tsx";
import type { Entry } from "../../session/session-types.ts";
import { linkToEntry } from "../../shell/links.ts";
import { conversationText as text } from "./conversation-text.ts";

/** What a reader can do with an entry. */
export interface EntryActions {
  readonly session: string;
  readonly isPinned: (entry: Entry) => boolean;
  readonly setPin: (entry: Entry, isPinned: boolean) => Promise<void>;
  readonly rewind: (entry: Entry) => void;
  readonly fork: (entry: Entry) => void;
  readonly redact: (entry: Entry) => void;
}

/** The menu of an entry. */
export function EntryMenu({ entry, actions }: { readonly entry: Entry; readonly actions: EntryActions }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const isPinned = actions.isPinned(entry);
  const run = (action: () => unknown) => () => {
    if (menu.current) menu.current.open = false;
    action();
  };
  const copyLink = () => {
    const link = new URL(linkToEntry(actions.session, entry.seq), location.href).href;
    navigator.clipboard.writeText(link).then(
      () => showToast(text("linkCopied")),
      () => showToast(link),
    );
  };
  return (
    <details
      ref={menu}
      class="entry-menu"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !menu.current?.open) return;
        menu.current.open = false;
        menu.current.querySelector("summary")?.focus();
      }}
      onFocusOut={(event) => {
        const next = event.relatedTarget;
        if (menu.current && next instanceof Node && !menu.current.contains(next)) menu.current.open = false;
      }}
    >
      <summary aria-label={text("actionsFor", { seq: entry.seq })} title={text("actions")}>
        ⋯
      </summary>
      <div class="menu-items">
        {entry.kind === "message" && (
          <button type="button" onClick={run(() => actions.setPin(entry, !isPinned))}>
            {text(isPinned ? "unpin" : "pin")}
          </button>
        )}
        <button type="button" onClick={run(() => actions.rewind(entry))}>
          {text("rewindHere")}
        </button>
        <button type="button" onClick={run(() => actions.fork(entry))}>
          {text("forkHere")}
        </button>
        <button type="button" onClick={run(copyLink)}>
          {text("copyLink")}
        </button>
        <button type="button" class="bad" onClick={run(() => actions.redact(entry))}>
          {text("redact")}
        </button>
      </div>
    </details>
  );
}

/** Shows the failure of an action at the edge of the page. */
export function showFailure(error: unknown): void {
  const { message, remedy } = toFailure(error);
  showToast(`${message} ${remedy}`);
}
