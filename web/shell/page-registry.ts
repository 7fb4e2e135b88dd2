import { matchPath } from "./match-path.ts";
import type { PageRoute } from "./page-route.ts";

/** All pages: each folder of web/pages with a route.ts is one. */
const modules = import.meta.glob<{ readonly route: PageRoute }>("../pages/*/route.ts", { eager: true });
export const pages: readonly PageRoute[] = Object.values(modules).map(({ route }) => route);

/** Pages of the navigation, in order. */
export const navigationPages = pages
  .flatMap((page) =>
    page.navigation ? [{ ...page, navigation: page.navigation, href: page.paths[0] as string }] : [],
  )
  .sort((one, other) => one.navigation.order - other.navigation.order);

/** Finds the page of a path. A fixed segment wins over a name. */
export function findPage(
  path: string,
): { readonly page: PageRoute; readonly params: Readonly<Record<string, string>> } | undefined {
  const matches = pages.flatMap((page) =>
    page.paths.flatMap((pattern) => {
      const params = matchPath(pattern, path);
      return params ? [{ page, params, names: Object.keys(params).length }] : [];
    }),
  );
  return matches.sort((one, other) => one.names - other.names)[0];
}
