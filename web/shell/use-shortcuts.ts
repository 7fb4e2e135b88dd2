import { useEffect } from "preact/hooks";
import { pageShortcuts, type Shortcut } from "./shortcuts.ts";

/** Offers shortcuts while a page is open. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  useEffect(() => {
    pageShortcuts.value = shortcuts;
    return () => {
      pageShortcuts.value = [];
    };
  });
}
