import { useEffect, useState } from "preact/hooks";
import { call } from "../api/client.ts";
import { isSignInNeeded, keepToken, token } from "../api/token.ts";
import { Select } from "../components/select.tsx";
import { chooseLanguage, LANGUAGES, type Language, language } from "../i18n/language.ts";
import { shellText } from "../i18n/shell-text.ts";
import { navigationPages } from "./page-registry.ts";
import { place } from "./router.ts";
import { SearchBox } from "./search-box.tsx";
import { isHelpOpen } from "./shortcuts.ts";
import { chooseTheme, THEMES, type Theme, theme } from "./theme.ts";

const THEME_TEXTS = { system: "themeSystem", light: "themeLight", dark: "themeDark" } as const;

/** The bar at the top: pages, search, theme and language. */
export function Header() {
  const [isOpen, setOpen] = useState(false);
  const { path } = place.value;
  useEffect(() => setOpen(false), [path]);
  const isCurrent = (href: string) =>
    href === "/" ? path === "/" : path === href || path.startsWith(`${href}/`);
  return (
    <header class="top">
      <a class="brand" href="/">
        longhaul
      </a>
      <button
        type="button"
        class="menu"
        aria-expanded={isOpen}
        aria-controls="navigation"
        onClick={() => setOpen(!isOpen)}
      >
        {shellText("menu")}
      </button>
      <nav id="navigation" class={isOpen ? "open" : ""} aria-label={shellText("navigation")}>
        {navigationPages.map(({ href, label }) => (
          <a key={href} href={href} aria-current={isCurrent(href) ? "page" : undefined}>
            {label[language.value]}
          </a>
        ))}
      </nav>
      <SearchBox />
      <div class={`preferences ${isOpen ? "open" : ""}`}>
        <Select
          label={shellText("theme")}
          value={theme.value}
          options={THEMES.map((value) => ({ value, label: shellText(THEME_TEXTS[value]) }))}
          onChange={(value) => chooseTheme(value as Theme)}
        />
        <Select
          label={shellText("language")}
          value={language.value}
          options={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
          onChange={(value) => chooseLanguage(value as Language)}
        />
        <button
          type="button"
          class="quiet key"
          aria-label={shellText("shortcuts")}
          title={shellText("shortcuts")}
          onClick={() => (isHelpOpen.value = true)}
        >
          ?
        </button>
        {token.value && (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              void call("POST /sign-out", { body: {} }).catch(() => undefined);
              keepToken("");
              isSignInNeeded.value = true;
            }}
          >
            {shellText("signOut")}
          </button>
        )}
      </div>
    </header>
  );
}
