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
        <b>{isForPrograms(failure.message) ? shellText("failed") : failure.message}</b>
      </p>
      <p class="dim">
        {shellText("whatToDo")}:{" "}
        {isForPrograms(failure.remedy)
          ? shellText(failure.status === 404 ? "findOther" : "reloadPage")
          : failure.remedy}{" "}
        <code>{failure.code}</code>
      </p>
      {retry && (
        <button type="button" onClick={retry}>
          {shellText("retry")}
        </button>
      )}
    </section>
  );
}

/** True for words about paths of the API, which do not help the reader of a page. */
function isForPrograms(words: string): boolean {
  return /\/api\/v1|\/openapi\.json|\b(?:GET|POST|PUT|PATCH|DELETE) \//.test(words);
}
