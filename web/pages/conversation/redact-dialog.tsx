import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { showToast } from "../../components/toasts.tsx";
import { formatBytes } from "../../format/number.ts";
import type { Entry } from "../../session/session-types.ts";
import { conversationText as text } from "./conversation-text.ts";
import { MessageParts } from "./part-view.tsx";

interface RedactDialogProps {
  readonly session: string;
  readonly entry: Entry;
  /** Called with the redacted entry. */
  readonly onDone: (entry: Entry) => void;
  readonly onClose: () => void;
}

/** Shows the content to erase, then erases it. This cannot be undone. */
export function RedactDialog({ session, entry, onDone, onClose }: RedactDialogProps) {
  const [reason, setReason] = useState("");
  const params = { session };
  const preview = useResource(
    (signal) =>
      call("POST /sessions/{session}/redact", { params, body: { entries: [entry.id] } }, { signal }),
    [entry.id],
  );
  const redact = async () => {
    const confirm = preview.value?.confirm;
    if (confirm === undefined) return;
    const { freed } = await call("POST /sessions/{session}/redact", {
      params,
      body: { entries: [entry.id], confirm, ...(reason.trim() && { reason: reason.trim() }) },
    });
    onDone(
      await call("GET /sessions/{session}/entries/{entry}", {
        params: { session: entry.session, entry: entry.id },
      }),
    );
    showToast(
      text("redactedNow", { size: formatBytes((freed?.payloadBytes ?? 0) + (freed?.blobBytes ?? 0)) }),
    );
  };
  return (
    <ConfirmDialog
      title={text("redactTitle", { seq: entry.seq })}
      confirmLabel={text("redactForEver")}
      isDestructive
      onConfirm={redact}
      onClose={onClose}
    >
      <p>{text("redactHint")}</p>
      <ResourceView resource={preview}>
        {({ entries }) => (
          <div class="redact-preview">
            {entries.map((one) =>
              one.kind === "message" ? (
                <MessageParts key={one.id} entry={one} message={one.message} />
              ) : (
                <p key={one.id}>
                  {one.kind} #{one.seq}
                </p>
              ),
            )}
          </div>
        )}
      </ResourceView>
      <label>
        {text("redactReason")}
        <input value={reason} maxLength={1_000} onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
    </ConfirmDialog>
  );
}
