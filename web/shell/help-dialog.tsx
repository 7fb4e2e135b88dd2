import { Dialog } from "../components/dialog.tsx";
import { language } from "../i18n/language.ts";
import { shellText } from "../i18n/shell-text.ts";
import { navigationPages } from "./page-registry.ts";
import { isHelpOpen, pageShortcuts } from "./shortcuts.ts";

/** The list of keyboard shortcuts. */
export function HelpDialog() {
  if (!isHelpOpen.value) return null;
  const rows = [
    ["/", shellText("shortcutSearch")],
    ...navigationPages.map(({ navigation, label }) => [
      `g ${navigation.key}`,
      shellText("shortcutGo", { page: label[language.value] }),
    ]),
    ...pageShortcuts.value.map(({ key, label }) => [key, label]),
    ["?", shellText("shortcutHelp")],
    ["Esc", shellText("shortcutClose")],
  ] as const;
  return (
    <Dialog title={shellText("shortcuts")} onClose={() => (isHelpOpen.value = false)}>
      <dl class="shortcuts">
        {rows.map(([keys, label]) => (
          <div key={keys}>
            <dt>
              {keys?.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
