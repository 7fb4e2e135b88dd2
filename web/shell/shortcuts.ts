import { signal } from "@preact/signals";
import { navigationPages } from "./page-registry.ts";
import { navigate } from "./router.ts";

/** How long "g" waits for the second key. */
const SEQUENCE_MS = 1_500;

/** True while the list of shortcuts shows. */
export const isHelpOpen = signal(false);

/** Shortcuts of the page that is open, by key; the list shows them with their labels. */
export interface Shortcut {
  readonly key: string;
  readonly label: string;
  readonly run: () => void;
}
export const pageShortcuts = signal<readonly Shortcut[]>([]);

/** Handles keys until `end` fires: "/" searches, "g" and a letter opens a page, "?" lists the shortcuts. */
export function watchKeys(end: AbortSignal): void {
  let goUntil = 0;
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target))
        return;
      if (document.querySelector("dialog[open]")) return;
      const run = findAction(event.key, performance.now() < goUntil);
      goUntil = event.key === "g" ? performance.now() + SEQUENCE_MS : 0;
      if (!run) return;
      event.preventDefault();
      run();
    },
    { signal: end },
  );
}

function findAction(key: string, isGoing: boolean): (() => void) | undefined {
  if (isGoing) {
    const page = navigationPages.find(({ navigation }) => navigation.key === key);
    return page && (() => navigate(page.href));
  }
  if (key === "/") return focusSearch;
  if (key === "?") return () => (isHelpOpen.value = true);
  return pageShortcuts.peek().find((one) => one.key === key)?.run;
}

function focusSearch(): void {
  document.querySelector<HTMLInputElement>("[data-search]")?.focus();
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
