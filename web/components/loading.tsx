import { shellText } from "../i18n/shell-text.ts";

/** Shows that data is on its way. It appears late, so that fast pages do not flicker. */
export function Loading() {
  return (
    <p class="loading" role="status">
      {shellText("loading")}
    </p>
  );
}
