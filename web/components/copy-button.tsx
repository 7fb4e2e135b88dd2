import { shellText } from "../i18n/shell-text.ts";
import { showToast } from "./toasts.tsx";

/** Copies a text. */
export function CopyButton({ text, label }: { readonly text: string; readonly label?: string }) {
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => showToast(shellText("copied")),
      () => showToast(shellText("copyFailed")),
    );
  return (
    <button type="button" class="quiet" title={text} onClick={copy}>
      {label ?? shellText("copy")}
    </button>
  );
}
