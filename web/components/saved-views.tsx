import { useState } from "preact/hooks";
import { shellText } from "../i18n/shell-text.ts";
import { navigate, place } from "../shell/router.ts";

interface View {
  readonly name: string;
  readonly query: string;
}

const KEY = "longhaul.views";

/** Filters of a page under names of the reader's own, kept in this browser. */
export function SavedViews({ path }: { readonly path: string }) {
  const [views, setViews] = useState(() => readViews(path));
  const change = (next: readonly View[]) => {
    localStorage.setItem(`${KEY}.${path}`, JSON.stringify(next));
    setViews(next);
  };
  const save = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const name = new FormData(form).get("view")?.toString().trim();
    if (!name) return;
    const { query } = place.peek();
    change([...views.filter((view) => view.name !== name), { name, query }]);
    form.reset();
  };
  return (
    <div class="views">
      {views.map(({ name, query }) => (
        <span key={name} class="pill">
          <button type="button" class="quiet" onClick={() => navigate(path + query)}>
            {name}
          </button>
          <button
            type="button"
            class="quiet"
            aria-label={shellText("forgetView", { name })}
            onClick={() => change(views.filter((view) => view.name !== name))}
          >
            ×
          </button>
        </span>
      ))}
      <form onSubmit={save}>
        <input
          name="view"
          maxLength={40}
          aria-label={shellText("viewName")}
          placeholder={shellText("viewName")}
        />
        <button type="submit">{shellText("saveView")}</button>
      </form>
    </div>
  );
}

function readViews(path: string): readonly View[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(`${KEY}.${path}`) ?? "[]");
    return Array.isArray(kept) ? (kept as readonly View[]) : [];
  } catch {
    return [];
  }
}
