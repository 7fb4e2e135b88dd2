import { call } from "../../api/client.ts";
import { useResource } from "../../api/use-resource.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { showToast } from "../../components/toasts.tsx";
import { formatBytes } from "../../format/number.ts";
import { formatTime } from "../../format/time.ts";
import { memoryText as text } from "./memory-text.ts";

interface ForgetMemoryDialogProps {
  readonly id: string;
  readonly onForgotten: () => void;
  readonly onClose: () => void;
}

/** Shows every memory that goes with one, and erases them when confirmed. */
export function ForgetMemoryDialog({ id, onForgotten, onClose }: ForgetMemoryDialogProps) {
  const preview = useResource(
    (signal) => call("POST /memories/{memory}/forget", { params: { memory: id }, body: {} }, { signal }),
    [id],
  );
  const forget = async () => {
    if (!preview.value) return;
    const { confirm } = preview.value;
    const { freed } = await call("POST /memories/{memory}/forget", {
      params: { memory: id },
      body: { confirm },
    });
    showToast(text("forgotten", { entries: freed?.entries ?? 0, size: formatBytes(freed?.payloadBytes) }));
    onForgotten();
  };
  return (
    <ConfirmDialog
      title={text("forgetTitle")}
      confirmLabel={text("forgetNow")}
      isDestructive
      onConfirm={forget}
      onClose={onClose}
    >
      <ResourceView resource={preview}>
        {({ memories }) => (
          <>
            <p>{text("forgetGoes", { count: memories.length })}</p>
            <ul class="going">
              {memories.map((memory) => (
                <li key={memory.id}>
                  <q>{memory.text}</q>
                  <span class="dim number">
                    {memory.id} · {formatTime(memory.at)}
                  </span>
                </li>
              ))}
            </ul>
            <p class="dim">{text("forgetHint")}</p>
          </>
        )}
      </ResourceView>
    </ConfirmDialog>
  );
}
