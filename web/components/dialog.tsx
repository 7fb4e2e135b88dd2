import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { shellText } from "../i18n/shell-text.ts";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** Buttons of the dialog; by default one that closes it. */
  readonly actions?: ComponentChildren;
}

/** A window above the page. Escape and a click outside of it close it; the focus returns to where it was. */
export function Dialog({ title, onClose, children, actions }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same by the browser's own handling
    <dialog
      ref={dialog}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <div class="dialog-body">
        <h2>{title}</h2>
        {children}
        <p class="actions">
          {actions}
          <button type="button" onClick={() => dialog.current?.close()}>
            {shellText(actions ? "cancel" : "close")}
          </button>
        </p>
      </div>
    </dialog>
  );
}
