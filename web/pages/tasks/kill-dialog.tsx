import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { showToast } from "../../components/toasts.tsx";
import { isLive, StatePill } from "./state-pill.tsx";
import { tasksText as text } from "./tasks-text.ts";

interface KillDialogProps {
  readonly id: string;
  readonly subtasks: Reply<"GET /tasks">["tasks"];
  readonly onKilled: () => void;
  readonly onClose: () => void;
}

/** Asks before a task and its children end, and for the reason. */
export function KillDialog({ id, subtasks, onKilled, onClose }: KillDialogProps) {
  const [reason, setReason] = useState("");
  const live = subtasks.filter(({ state }) => isLive(state));
  const kill = async () => {
    const body = reason.trim() ? { reason: reason.trim() } : {};
    await call("POST /tasks/{task}/kill", { params: { task: id }, body });
    showToast(text("killedNow"));
    onKilled();
  };
  return (
    <ConfirmDialog
      title={text("killTitle")}
      confirmLabel={text("kill")}
      isDestructive
      onConfirm={kill}
      onClose={onClose}
    >
      <p>{text("killHint")}</p>
      {live.length > 0 && (
        <ul class="subtasks">
          {live.map((task) => (
            <li key={task.id}>
              <StatePill state={task.state} /> {task.title ?? task.id}
            </li>
          ))}
        </ul>
      )}
      <label class="reason">
        {text("killReason")}
        <input
          value={reason}
          maxLength={200}
          onInput={(event) => setReason(event.currentTarget.value)}
          placeholder="asked"
        />
      </label>
    </ConfirmDialog>
  );
}
