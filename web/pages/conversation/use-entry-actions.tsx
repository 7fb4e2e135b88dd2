import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { showToast } from "../../components/toasts.tsx";
import { revertEdit } from "../../session/revert-edit.ts";
import { sessionText } from "../../session/session-text.ts";
import type { Entry } from "../../session/session-types.ts";
import { linkToSession } from "../../shell/links.ts";
import { navigate } from "../../shell/router.ts";
import { conversationText as text } from "./conversation-text.ts";
import type { EditActions } from "./edit-row.tsx";
import { type EntryActions, showFailure } from "./entry-menu.tsx";
import { RedactDialog } from "./redact-dialog.tsx";
import type { Conversation } from "./use-conversation.ts";

interface Options {
  readonly session: string;
  readonly talk: Conversation;
}

/** What a reader can do with the entries of a conversation, and the dialog that asks first. */
export function useEntryActions({ session, talk }: Options): {
  readonly actions: EntryActions & EditActions;
  readonly dialog: ComponentChildren;
} {
  const [asked, setAsked] = useState<{
    readonly type: "rewind" | "fork" | "redact";
    readonly entry: Entry;
  }>();
  const params = { session };

  const chooseLine = async (line: number) => {
    await call("POST /sessions/{session}/lines", { params, body: { line } });
    await talk.open({});
  };
  const setPin = async (entry: Entry, isPinned: boolean): Promise<void> => {
    try {
      if (isPinned) await call("POST /sessions/{session}/pins", { params, body: { entry: entry.id } });
      else await call("DELETE /sessions/{session}/pins/{entry}", { params: { session, entry: entry.id } });
      talk.reloadPins();
      showToast(text(isPinned ? "pinnedNow" : "unpinnedNow", { seq: entry.seq }), {
        label: sessionText("undo"),
        run: () => void setPin(entry, !isPinned),
      });
    } catch (error) {
      showFailure(error);
    }
  };
  const rewind = async (entry: Entry) => {
    const { previous } = await call("POST /sessions/{session}/rewind", { params, body: { entry: entry.id } });
    await talk.open({});
    showToast(text("rewound", { seq: entry.seq }), {
      label: sessionText("undo"),
      run: () => void chooseLine(previous).catch(showFailure),
    });
  };
  const fork = async (entry: Entry) => {
    const { id } = await call("POST /sessions/{session}/fork", { params, body: { at: entry.id } });
    showToast(text("forked"));
    navigate(linkToSession(id));
  };

  const actions: EntryActions & EditActions = {
    session,
    isPinned: ({ id }) => talk.pins.has(id),
    setPin,
    rewind: (entry) => setAsked({ type: "rewind", entry }),
    fork: (entry) => setAsked({ type: "fork", entry }),
    redact: (entry) => setAsked({ type: "redact", entry }),
    holdingEdits: talk.holdingEdits,
    revert: (overlay, edit) => void revertEdit(session, overlay.seq, talk.reloadEdits, edit),
    chooseLine: (line) => void chooseLine(line).catch(showFailure),
  };
  return { actions, dialog: asked && renderDialog() };

  function renderDialog() {
    if (!asked) return null;
    const { entry } = asked;
    const close = () => setAsked(undefined);
    if (asked.type === "redact")
      return (
        <RedactDialog
          session={session}
          entry={entry}
          onDone={talk.pages.replace.bind(talk.pages)}
          onClose={close}
        />
      );
    const isRewind = asked.type === "rewind";
    return (
      <ConfirmDialog
        title={text(isRewind ? "rewindTitle" : "forkTitle", { seq: entry.seq })}
        confirmLabel={text(isRewind ? "rewind" : "fork")}
        onConfirm={() => (isRewind ? rewind(entry) : fork(entry))}
        onClose={close}
      >
        <p>{text(isRewind ? "rewindHint" : "forkHint")}</p>
      </ConfirmDialog>
    );
  }
}
