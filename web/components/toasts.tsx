import { signal } from "@preact/signals";

const SHOWN_MS = 6_000;
const MAX_TOASTS = 4;

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
}

const toasts = signal<readonly Toast[]>([]);
let nextId = 0;

/** Shows a short message at the edge of the page, with an action such as "Undo". */
export function showToast(text: string, action?: Toast["action"]): void {
  const id = nextId++;
  toasts.value = [...toasts.peek(), { id, text, action }].slice(-MAX_TOASTS);
  setTimeout(() => removeToast(id), SHOWN_MS);
}

function removeToast(id: number): void {
  toasts.value = toasts.peek().filter((toast) => toast.id !== id);
}

/** The messages that show now. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, action }) => (
        <p key={id}>
          {text}
          {action && (
            <button
              type="button"
              class="quiet"
              onClick={() => {
                removeToast(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
        </p>
      ))}
    </div>
  );
}
