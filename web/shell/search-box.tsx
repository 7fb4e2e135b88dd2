import { shellText } from "../i18n/shell-text.ts";
import { navigate, place, query } from "./router.ts";

/** The search box of the frame; it leads to the page of the search. */
export function SearchBox() {
  const words = place.value.path === "/search" ? (query.value.get("q") ?? "") : "";
  return (
    <search class="search">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const asked = new FormData(event.currentTarget).get("q")?.toString().trim();
          if (asked) navigate(`/search?q=${encodeURIComponent(asked)}`);
        }}
      >
        <input
          key={words}
          data-search
          type="search"
          name="q"
          maxLength={4_000}
          defaultValue={words}
          aria-label={shellText("search")}
          placeholder={shellText("shortcutSearch")}
          autocomplete="off"
          spellcheck={false}
        />
        <kbd>/</kbd>
      </form>
    </search>
  );
}
