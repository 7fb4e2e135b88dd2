import type { ApiFailure } from "../api/api-failure.ts";
import { shellText } from "../i18n/shell-text.ts";

/** Says what failed and what to do about it. */
export function ErrorState({
  failure,
  retry,
}: {
  readonly failure: ApiFailure;
  readonly retry?: () => void;
}) {
  return (
    <section class="error" role="alert">
      <p>
        <b>{failure.message}</b>
      </p>
      <p class="dim">
        {shellText("whatToDo")}: {failure.remedy} <code>{failure.code}</code>
      </p>
      {retry && (
        <button type="button" onClick={retry}>
          {shellText("retry")}
        </button>
      )}
    </section>
  );
}
