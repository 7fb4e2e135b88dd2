import "./styles/index.css";
import { effect } from "@preact/signals";
import { render } from "preact";
import { language } from "./i18n/language.ts";
import { followChanges } from "./live/changes.ts";
import { watchHealth } from "./live/health.ts";
import { App } from "./shell/app.tsx";
import { watchLinks } from "./shell/router.ts";
import { watchKeys } from "./shell/shortcuts.ts";

const end = new AbortController();
// A page that the browser keeps for the back button would keep its connections, and a host gets only six.
addEventListener("pagehide", () => end.abort());
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});

effect(() => {
  document.documentElement.lang = language.value === "zh" ? "zh-Hans" : language.value;
});
watchLinks(end.signal);
watchKeys(end.signal);
watchHealth(end.signal);
void followChanges(end.signal);
render(<App />, document.getElementById("app") as HTMLElement);
