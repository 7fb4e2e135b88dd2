import { signal } from "@preact/signals";

const KEY = "longhaul.language";

/** Languages of the dashboard, by their own names. */
export const LANGUAGES = { en: "English", zh: "中文" } as const;
export type Language = keyof typeof LANGUAGES;

/** The reader's language: the choice, else the browser's. */
export const language = signal<Language>(readLanguage());

/** Changes the language, and keeps it for the next visit. */
export function chooseLanguage(chosen: Language): void {
  localStorage.setItem(KEY, chosen);
  language.value = chosen;
}

function readLanguage(): Language {
  const wanted = [localStorage.getItem(KEY), ...navigator.languages].map((name) => name?.slice(0, 2));
  return wanted.find((name): name is Language => name !== undefined && name in LANGUAGES) ?? "en";
}
