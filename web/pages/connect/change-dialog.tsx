import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { useResource } from "../../api/use-resource.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { showToast } from "../../components/toasts.tsx";
import type { Way } from "./agent-card.tsx";
import { connectText as text } from "./connect-text.ts";
import { FileDiff } from "./file-diff.tsx";

type Plan = Reply<"POST /agents/{agent}/connect">;
type Change = "connect" | "disconnect";

interface ChangeDialogProps {
  readonly agent: string;
  readonly way: Way;
  readonly change: Change;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/** Shows the change of an agent's files line by line, and writes it when confirmed. */
export function ChangeDialog({ agent, way, change, onChanged, onClose }: ChangeDialogProps) {
  const plan = useResource((signal) => ask(change, agent, { way }, signal), [agent, way, change]);
  const value = plan.value;
  const title = text(change === "connect" ? "connectTitle" : "disconnectTitle", {
    title: value?.title ?? agent,
    way: text(way),
  });
  const apply = async () => {
    if (!value) return;
    await ask(change, agent, { way, confirm: value.confirm });
    const back = change === "connect" ? "disconnect" : "connect";
    showToast(text(change === "connect" ? "nowConnected" : "nowDisconnected", { title: value.title }), {
      label: text("undo"),
      run: () => void undo(back),
    });
    onChanged();
  };
  const undo = async (back: Change) => {
    const { confirm } = await ask(back, agent, { way });
    await ask(back, agent, { way, confirm });
    onChanged();
  };
  const body = <ResourceView resource={plan}>{(found) => <PlanView plan={found} />}</ResourceView>;
  if (!value || value.files.length === 0)
    return (
      <Dialog title={title} onClose={onClose}>
        {body}
      </Dialog>
    );
  return (
    <ConfirmDialog
      title={title}
      confirmLabel={text(change === "connect" ? "connect" : "disconnect")}
      onConfirm={apply}
      onClose={onClose}
    >
      {body}
    </ConfirmDialog>
  );
}

function ask(
  change: Change,
  agent: string,
  body: { way: Way; confirm?: string },
  signal?: AbortSignal,
): Promise<Plan> {
  const options = signal ? { signal } : {};
  const input = { params: { agent }, body };
  return change === "connect"
    ? call("POST /agents/{agent}/connect", input, options)
    : call("POST /agents/{agent}/disconnect", input, options);
}

function PlanView({ plan: { files, notes, obstacle } }: { readonly plan: Plan }) {
  return (
    <>
      {obstacle && <p class="warm">{obstacle}</p>}
      {files.length === 0 && !obstacle && <p>{text("nothingToChange")}</p>}
      {files.map((file) => (
        <FileDiff key={file.path} file={file} />
      ))}
      {notes.length > 0 && (
        <ul class="plan-notes">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {files.length > 0 && <p class="dim">{text("secretsMasked")}</p>}
    </>
  );
}
