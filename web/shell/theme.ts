import { effect, signal } from "@preact/signals";

const KEY = "longhaul.theme";
export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const kept = localStorage.getItem(KEY);

/** The reader's choice; "system" follows the operating system. */
export const theme = signal<Theme>(THEMES.find((one) => one === kept) ?? "system");
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(systemIsDark.matches);
systemIsDark.addEventListener("change", ({ matches }) => (systemDark.value = matches));

/** True while the dark colors show; charts draw with them. */
export function isDark(): boolean {
  return theme.value === "dark" || (theme.value === "system" && systemDark.value);
}

export function chooseTheme(chosen: Theme): void {
  localStorage.setItem(KEY, chosen);
  theme.value = chosen;
}

effect(() => {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
});
