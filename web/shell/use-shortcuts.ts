import { useLayoutEffect } from "preact/hooks";
import { pageShortcuts, type Shortcut } from "./shortcuts.ts";

/** Offers shortcuts while a page is open. They change together with the page, so that a key acts on what is shown. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  useLayoutEffect(() => {
    pageShortcuts.value = shortcuts;
    return () => {
      pageShortcuts.value = [];
    };
  });
}
