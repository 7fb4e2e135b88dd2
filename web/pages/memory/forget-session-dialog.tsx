import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { showToast } from "../../components/toasts.tsx";
import { formatBytes, formatCount } from "../../format/number.ts";
import { linkToSession } from "../../shell/links.ts";
import { memoryText as text } from "./memory-text.ts";

interface ForgetSessionDialogProps {
  readonly session: string;
  readonly onForgotten: () => void;
  readonly onClose: () => void;
}

/** Shows what goes with a conversation, and erases it when confirmed. */
export function ForgetSessionDialog({ session, onForgotten, onClose }: ForgetSessionDialogProps) {
  const [isRecursive, setRecursive] = useState(false);
  const preview = useResource(
    (signal) =>
      call(
        "POST /sessions/{session}/forget",
        { params: { session }, body: { recursive: isRecursive } },
        { signal },
      ),
    [session, isRecursive],
  );
  const forget = async () => {
    if (!preview.value) return;
    const { freed } = await call("POST /sessions/{session}/forget", {
      params: { session },
      body: { recursive: isRecursive, confirm: preview.value.confirm },
    });
    showToast(text("forgotten", { entries: freed?.entries ?? 0, size: formatBytes(freed?.payloadBytes) }));
    onForgotten();
  };
  return (
    <ConfirmDialog
      title={text("forgetSessionTitle")}
      confirmLabel={text("forgetNow")}
      isDestructive
      onConfirm={forget}
      onClose={onClose}
    >
      <ResourceView resource={preview}>
        {({ entries, descendants }) => (
          <>
            <p>
              <a href={linkToSession(session)}>{session}</a>
            </p>
            <p>{text("forgetSessionGoes", { entries: formatCount(entries) })}</p>
            {descendants.length > 0 && (
              <>
                <label class="check">
                  <input
                    type="checkbox"
                    checked={isRecursive}
                    onChange={(event) => setRecursive(event.currentTarget.checked)}
                  />
                  {text("forgetDescendants", { count: descendants.length })}
                </label>
                <ul class="going">
                  {descendants.map((id) => (
                    <li key={id}>
                      <a href={linkToSession(id)}>{id}</a>
                    </li>
                  ))}
                </ul>
              </>
            )}
            <p class="dim">{text("forgetSessionHint")}</p>
          </>
        )}
      </ResourceView>
    </ConfirmDialog>
  );
}
