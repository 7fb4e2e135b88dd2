import type { ComponentType } from "preact";
import type { Language } from "../i18n/language.ts";

/** Properties of every page. */
export interface PageProps {
  /** Values of the names in the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** A page of the dashboard. `web/pages/<name>/route.ts` exports one; the page itself is loaded when it is opened. */
export interface PageRoute {
  /** Patterns such as "/sessions/:id"; a name matches one segment. */
  readonly paths: readonly string[];
  readonly label: Readonly<Record<Language, string>>;
  /** Its place in the navigation and the key after "g" that opens it; without it, only links lead there. */
  readonly navigation?: { readonly order: number; readonly key: string };
  readonly load: () => Promise<{ readonly default: ComponentType<PageProps> }>;
}
