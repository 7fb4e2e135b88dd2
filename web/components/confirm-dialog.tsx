import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type ApiFailure, toFailure } from "../api/api-failure.ts";
import { Dialog } from "./dialog.tsx";
import { ErrorState } from "./error-state.tsx";

interface ConfirmDialogProps {
  readonly title: string;
  /** What will happen, such as the preview of a change. */
  readonly children: ComponentChildren;
  readonly confirmLabel: string;
  /** True if the action cannot be undone. */
  readonly isDestructive?: boolean;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks before something is changed; it stays open with the failure if the change fails. */
export function ConfirmDialog({
  title,
  children,
  confirmLabel,
  isDestructive = false,
  onConfirm,
  onClose,
}: ConfirmDialogProps) {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const confirm = async () => {
    setBusy(true);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      setFailure(toFailure(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <button
          type="button"
          class={isDestructive ? "danger" : "primary"}
          disabled={isBusy}
          onClick={confirm}
        >
          {confirmLabel}
        </button>
      }
    >
      {children}
      {failure && <ErrorState failure={failure} />}
    </Dialog>
  );
}
